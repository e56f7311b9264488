"""Which tasks of graphs run after an edit, checked by the tasks themselves, and how commands report graphs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from copies import copy_of
from project import CORE, Project, Run
from watching import Watching

from gradmill.io.files import TICK
from gradmill.query.memo import digest
from gradmill.session.answer import answer_to
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config

RELEASE = (CORE / "RELEASE").read_text().strip()
FIRST = """\
from torch import Tensor


def waves(x: Tensor, y: Tensor) -> Tensor:
    return x.sin() * y


def grown(x: Tensor) -> Tensor:
    return x.exp() + 1
"""
SECOND = """\
from torch import Tensor


def both(x: Tensor) -> Tensor:
    z = x.exp()
    z.sin_()
    return z
"""


class Graphs:
    """A project with two files of graphs."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.folder = project.folder / "mine"

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def run(self, *words: str, **variables: object) -> Run:
        return self.project.run(*words, **{"graphs": self.folder, "families": "graphs", **variables})

    def ran(self) -> tuple[list[str], list[str]]:
        """The generated units and the written files of a run without errors."""
        run = self.run().ok()
        return sorted(run.units), sorted(run.shards)


@pytest.fixture(scope="module")
def first_build(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A built project, which tests copy."""
    graphs = Graphs(Project(tmp_path_factory.mktemp("graphs"), CORE, RELEASE))
    graphs.folder.mkdir()
    graphs.write("first.py", FIRST)
    graphs.write("second.py", SECOND)
    run = graphs.run().ok()
    assert sorted(run.units) == ["both", "grown", "waves"]
    return graphs.project


@pytest.fixture
def graphs(first_build: Project, tmp_path: Path) -> Graphs:
    """A copy of the built project, which is up to date."""
    project = Graphs(copy_of(first_build, tmp_path))
    assert project.ran() == ([], [])
    return project


# ---- what runs


def test_an_edited_formula_rebuilds_the_graphs_that_use_it(graphs: Graphs) -> None:
    graphs.project.set_formula("sin", "self", "grad * self.cos().conj() * 1")
    assert graphs.ran() == (["both", "waves"], ["graphs/first.cpp", "graphs/second.cpp"])


def test_an_edited_formula_that_no_graph_uses_rebuilds_nothing(graphs: Graphs) -> None:
    graphs.project.set_formula("cos", "self", "grad * -self.sin().conj() * 1")
    assert graphs.ran() == ([], [])


def test_an_edited_function_alone_is_rebuilt(graphs: Graphs) -> None:
    graphs.edit("first.py", "x.exp() + 1", "x.exp() + 2")
    assert graphs.ran() == (["grown"], ["graphs/first.cpp"])


def test_a_comment_rebuilds_nothing(graphs: Graphs) -> None:
    graphs.edit("first.py", "def grown", "# Moved down by this.\n\n\ndef grown")
    graphs.edit("first.py", "x.exp() + 1", "x.exp() + 1  # and this")
    assert graphs.ran() == ([], [])


def test_a_file_added_and_removed(graphs: Graphs) -> None:
    graphs.write("third.py", "from torch import Tensor\n\n\ndef third(x: Tensor) -> Tensor:\n    return x\n")
    assert graphs.ran() == (["third"], ["graphs/third.cpp", "graphs/third.h"])
    (graphs.folder / "third.py").unlink()
    assert graphs.ran() == ([], [])
    assert not (graphs.project.generated / "graphs" / "third.cpp").exists()


def test_an_error_changes_no_file_and_is_reported_on_every_run(graphs: Graphs) -> None:
    files = graphs.project.files()
    graphs.edit("first.py", "x.sin()", "x.sine()")
    for _ in range(2):
        graphs.run().failed("first.py:5:12: error: waves: the spec set has no method 'sine'", status=1)
        assert graphs.project.files() == files
    graphs.edit("first.py", "x.sine()", "x.sin()")
    assert graphs.ran() == ([], [])


def test_watch_detects_an_added_and_a_removed_graph_file(graphs: Graphs) -> None:
    watching = Watching(graphs.project, graphs=graphs.folder, families="graphs")
    try:
        watching.wait_for("watching")
        graphs.write("third.py", SECOND.replace("both", "third"))
        assert "third → graphs/third.h, graphs/third.cpp" in watching.wait_for(" ms: ")
        graphs.edit("third.py", "x.exp()", "x.exp() + 1")
        assert "third → graphs/third.cpp" in watching.wait_for(" ms: ")
        (graphs.folder / "third.py").unlink()
        third = graphs.project.generated / "graphs" / "third.cpp"
        watching.wait_while(third.exists)
    finally:
        assert watching.stop() == 0


def test_a_changed_graph_file_that_the_watcher_misses_is_detected(graphs: Graphs) -> None:
    inputs = Session(read_config({**graphs.project.values, "graphs": str(graphs.folder), "families": "graphs"})).inputs
    inputs.code.take({})
    inputs.take()
    assert inputs.specs_are_the_same()
    graphs.write("third.py", SECOND.replace("both", "third"))
    assert not inputs.specs_are_the_same()
    (graphs.folder / "third.py").unlink()
    assert inputs.specs_are_the_same()
    (graphs.folder / "second.py").unlink()
    assert not inputs.specs_are_the_same()


# ---- commands


def test_list_show_and_explain_know_graphs(graphs: Graphs) -> None:
    listed = graphs.run("list", "--all").stdout
    assert {"graphs", "emit:waves", "shard:graphs/first.cpp"} <= {line.split()[0] for line in listed.splitlines()}
    (row,) = graphs.run("show", "graphs", "waves").rows
    assert row["schema"] == "gradmill::waves(Tensor x, Tensor y) -> Tensor"
    assert [call["op"] for call in row["calls"]] == ["aten::sin", "aten::mul.Tensor"]
    assert "SinBackward0" in graphs.run("show", "emit", "waves").stdout
    explained = graphs.run("explain", "waves").stdout
    assert "graphs/first.py" in explained and "native_functions.yaml" in explained and "up to date" in explained
    assert "2 graphs" in graphs.run("explain", "graphs/first.cpp").stdout


def test_the_manifest_and_the_depfile_know_graphs(graphs: Graphs) -> None:
    manifest = json.loads(graphs.project.manifest())
    inputs = {each["name"]: each["xxh3"] for each in manifest["inputs"]}
    assert {"graphs/first.py", "graphs/second.py", "templates/graph_formulas.h"} <= inputs.keys()
    assert inputs["graphs/first.py"] == digest(FIRST.encode()).hex()
    file = next(each for each in manifest["files"] if each["path"] == "graphs/first.cpp")
    assert file["units"] == ["waves", "grown"] and "graphs/first.py" in file["inputs"]
    assert "graphs/second.py" not in file["inputs"]
    unit = next(each for each in manifest["units"] if each["unit"] == "grown")
    assert (unit["family"], unit["file"], unit["line"]) == ("graphs", "graphs/first.py", 8)
    depfile = next(graphs.project.cache.rglob("manifest.json.d")).read_text()
    assert str(graphs.folder / "second.py") in depfile


# ---- an up-to-date run


CHANGES = {
    "a graph file edited": lambda graphs: graphs.edit("first.py", "+ 1", "+ 2"),
    "a graph file added": lambda graphs: graphs.write("third.py", SECOND.replace("both", "third")),
    "a graph file removed": lambda graphs: (graphs.folder / "second.py").unlink(),
    "a header for graphs edited": lambda graphs: graphs.project.path("templates/core_helpers.h").open("a").write("\n"),
    "a generated file removed": lambda graphs: (graphs.project.generated / "graphs" / "first.h").unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_recorded_answer_of_an_up_to_date_run_is_invalid_after(
    change: str, graphs: Graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"specs={graphs.project.specs}", "generated=generated", "cache=cache"]
    words += [f"graphs={graphs.folder}", "families=graphs"]
    monkeypatch.chdir(graphs.project.folder)
    variables = {"graphs": graphs.folder, "families": "graphs", "generated": "generated", "cache": "cache"}
    for _ in range(2):
        time.sleep(2 * TICK / 1e9)
        graphs.project.gradmill(**variables).ok()
    answer = answer_to(words)
    assert answer is not None and b"-- graphs\n" in answer[0]
    CHANGES[change](graphs)
    assert answer_to(words) is None
    assert graphs.project.gradmill(**variables).status == 0
