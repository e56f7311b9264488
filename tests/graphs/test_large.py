"""Long graphs: work and text grow linearly with the number of statements; too deep nesting is an error at its place."""

from __future__ import annotations

import cProfile
import pstats
import re
from pathlib import Path

import pytest

from gradmill.extensions.graphs.print.files import of_function
from gradmill.extensions.graphs.queries import planned
from graphs.reading import Reading
from graphs.running import gradmill

SHORT, TIMES = 80, 4
NEARLY = 1.5  # the allowed factor above linear growth
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
    """The number of Python calls that planning and generating such a graph takes, and the length of the text."""
    path.write_text(text(body, count))
    reading = Reading(path)
    db = reading.build.db
    assert not reading.problems, reading.report
    profile = cProfile.Profile()
    pieces = profile.runcall(planned.pieces, db, f"{path.name}:f")
    reading.build.save()
    reading.build.close()
    assert pieces is not None
    length = sum(map(len, of_function(pieces).values()))
    return pstats.Stats(profile).total_calls, length  # type: ignore[attr-defined]


@pytest.mark.slow(1.5)
@pytest.mark.parametrize("kind", BODIES)
def test_work_and_text_grow_linearly_with_the_statements(kind: str, tmp_path: Path) -> None:
    work(tmp_path / "first.py", BODIES[kind], 12)  # reads the inputs that all graphs share
    calls, length = work(tmp_path / "short.py", BODIES[kind], SHORT)
    more_calls, more_length = work(tmp_path / "long.py", BODIES[kind], SHORT * TIMES)
    assert more_calls < calls * TIMES * NEARLY
    assert more_length < length * TIMES * NEARLY


def wide(count: int) -> str:
    """A function of `count` layers, each with a weight and a buffer that it writes to."""
    names = [f"{kind}{i}" for i in range(count) for kind in "wb"]
    inputs = ", ".join(f"{name}: Tensor" for name in ("x", *names))
    lines = (f"    x = torch.relu(x * w{i})\n    b{i}.add_(x)\n" for i in range(count))
    head = "import torch\nfrom torch import Tensor\n\n\n"
    return f"{head}def f({inputs}) -> Tensor:\n{''.join(lines)}    return x\n"


def test_text_grows_linearly_with_layers_that_have_inputs(tmp_path: Path) -> None:
    lengths = []
    for count in (7, 28):
        path = tmp_path / f"wide_{count}.py"
        path.write_text(wide(count))
        reading = Reading(path)
        pieces = planned.pieces(reading.build.db, f"{path.name}:f")
        assert pieces is not None, reading.report
        lengths.append(len(pieces["graph"]))
        reading.build.save()
        reading.build.close()
    assert lengths[1] < lengths[0] * 4 * 1.1


def run(folder: Path, lines: list[str]) -> tuple[int, str]:
    head = ["from torch import Tensor", "", "", "def f(x: Tensor) -> Tensor:"]
    (folder / "deep.py").write_text("\n".join([*head, *(f"    {line}" for line in lines), ""]))
    ended = gradmill(["graphs=deep.py", "families=graphs"], folder)
    assert "Traceback" not in ended.stdout + ended.stderr
    return ended.status, ended.stderr


def test_too_many_nested_views_are_an_error_at_the_first_one_above_the_limit(tmp_path: Path) -> None:
    status, report = run(tmp_path, ["a = x", *["a = a.transpose(0, 1)"] * 201, "return a * 1"])
    assert (status, "deep.py:206:9: error: f: more than 200 views of one another" in report) == (1, True), report


def test_views_nested_to_the_limit_are_generated(tmp_path: Path) -> None:
    status, report = run(tmp_path, ["a = x * 1", *["a = a.transpose(0, 1)"] * 199, "a[0] = 1.0", "return a"])
    assert status == 0, report


def test_an_expression_nested_too_deeply_is_an_error_at_its_statement(tmp_path: Path) -> None:
    status, report = run(tmp_path, ["a = x * 2", f"b = {' + '.join(['a'] * 900)}", "return b"])
    assert (status, "deep.py:6:5: error: f: an expression is nested too deeply" in report) == (1, True), report
    (tmp_path / "constant.py").write_text(f"A = 1\nB = {' + '.join(['A'] * 900)}\n")
    ended = gradmill(["graphs=constant.py", "families=graphs"], tmp_path)
    assert ended.status == 1
    assert "constant.py:2:1: error: an expression is nested too deeply" in ended.stderr


def test_more_inputs_than_the_dispatcher_takes_are_an_error(tmp_path: Path) -> None:
    inputs = ", ".join(f"x{i}: Tensor" for i in range(65))
    (tmp_path / "wide.py").write_text(
        f"from torch import Tensor\n\n\ndef f({inputs}) -> Tensor:\n    return x0 * x64\n"
    )
    ended = gradmill(["graphs=wide.py", "families=graphs"], tmp_path)
    assert ended.status == 1
    assert "wide.py:4:1: error: f: the operator would have 65 arguments; torch's dispatcher takes 64" in ended.stderr


def test_each_input_that_is_written_is_in_an_alias_set_of_its_own(tmp_path: Path) -> None:
    names = [f"x{i}" for i in range(30)]
    inputs, body = ", ".join(f"{name}: Tensor" for name in names), "".join(f"    {name}.mul_(2)\n" for name in names)
    (tmp_path / "wide.py").write_text(f"from torch import Tensor\n\n\ndef f({inputs}):\n{body}")
    gradmill(["graphs=wide.py", "families=graphs", "generated=g"], tmp_path).ok()
    sets = re.findall(r"Tensor\((\w+)!\) x\d+", (tmp_path / "g" / "graphs" / "wide.cpp").read_text())
    assert len(sets) == len(set(sets)) == 30
