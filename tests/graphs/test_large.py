"""Long graphs: work and text grow as the number of statements does; what is too deep is an error at its place."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path

import pytest
from forked import gradmill

from graphs.reading import Reading
from pipeline.stages import graph_text

SHORT, TIMES = 150, 4
NEARLY = 1.5  # how much more than in proportion the work may grow
BODIES = {
    "new": ("{last} = {last} * w", "{last} = {last} + x", "{last} = torch.sin({last})"),
    "in_place": ("x.mul_(w)", "{last} = torch.sin(x)", "x.add_({last})"),
    "views": ("{last} = {last}.transpose(0, 1)", "{last} = {last} * 2", "{last}[0].add_(1)"),
    "no_grad": ("with torch.no_grad(): x.mul_(w)", "{last} = torch.sin(x)"),
}


def text(body: tuple[str, ...], count: int) -> str:
    head = "import torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor, w: Tensor) -> Tensor:\n    a = x * w\n"
    lines = (f"    {body[i % len(body)].format(last='a')}\n" for i in range(count))
    return f"{head}{''.join(lines)}    return a\n"


def work(path: Path, body: tuple[str, ...], count: int) -> tuple[int, int]:
    """How many calls of functions it takes to plan and print such a graph, and how long the text is."""
    path.write_text(text(body, count))
    reading = Reading(path, path.parent / "cache")
    db = reading.build.db
    assert not reading.mistakes, reading.report
    profile = cProfile.Profile()
    found = profile.runcall(graph_text.pieces, db, f"{path.name}:f")
    reading.build.commit()
    reading.build.close()
    assert found is not None
    return pstats.Stats(profile).total_calls, len(found["graph"])  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", BODIES)
def test_work_and_text_grow_as_the_statements_do(kind: str, tmp_path: Path) -> None:
    work(tmp_path / "first.py", BODIES[kind], 12)  # what is read once, whatever the graph
    calls, length = work(tmp_path / "short.py", BODIES[kind], SHORT)
    more_calls, more_length = work(tmp_path / "long.py", BODIES[kind], SHORT * TIMES)
    assert more_calls < calls * TIMES * NEARLY
    assert more_length < length * TIMES * NEARLY


def run(folder: Path, lines: list[str]) -> tuple[int, str]:
    head = ["from torch import Tensor", "", "", "def f(x: Tensor) -> Tensor:"]
    (folder / "deep.py").write_text("\n".join([*head, *(f"    {line}" for line in lines), ""]))
    found = gradmill(["graphs=deep.py", "families=graphs"], folder)
    assert "Traceback" not in found.stdout + found.stderr
    return found.status, found.stderr


def test_too_many_views_of_one_another_are_an_error_at_the_first_one_that_is_too_much(tmp_path: Path) -> None:
    status, report = run(tmp_path, ["a = x", *["a = a.transpose(0, 1)"] * 201, "return a * 1"])
    assert (status, "deep.py:206:9: error: f: more than 200 views of one another" in report) == (1, True), report


def test_views_as_deep_as_they_may_be_are_printed(tmp_path: Path) -> None:
    status, report = run(tmp_path, ["a = x * 1", *["a = a.transpose(0, 1)"] * 199, "a[0] = 1.0", "return a"])
    assert status == 0, report


def test_an_expression_that_is_too_deep_is_an_error_at_its_statement(tmp_path: Path) -> None:
    status, report = run(tmp_path, ["a = x * 2", f"b = {' + '.join(['a'] * 900)}", "return b"])
    assert (status, "deep.py:6:5: error: f: an expression is nested too deeply" in report) == (1, True), report
    (tmp_path / "constant.py").write_text(f"A = 1\nB = {' + '.join(['A'] * 900)}\n")
    found = gradmill(["graphs=constant.py", "families=graphs"], tmp_path)
    assert found.status == 1
    assert "constant.py:2:1: error: an expression is nested too deeply" in found.stderr
