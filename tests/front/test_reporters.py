"""What ends a run belongs to the run, whatever reports it: rows kept, problems reported, the stamp written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import forked
import pytest
from copies import TICK
from project import ANALYSIS, ROOT, Project, Run

REPORTERS = ["console", "executed-only", "json", "zero", "error-only"]
WARNING = "warning: exp: self: unknown name 'rezult'"

# A dodo.py of a user, with a reporter class that knows nothing of gradmill.
DODO = f"""
import runpy
from doit.reporter import ZeroReporter
found = runpy.run_path({str(ROOT / "dodo.py")!r})
globals().update({{name: value for name, value in found.items() if not name.startswith("__")}})
class Mine(ZeroReporter):
    desc = "of a user"
DOIT_CONFIG = {{**DOIT_CONFIG, "reporter": Mine}}
"""


def assert_ended(project: Project, start: Callable[[], Run]) -> Run:
    """Whether a run with a warning keeps its rows, reports the warning, writes its stamp; and the next one nothing."""
    project.set_formula("exp", "self", "grad * rezult")
    stamp = project.folder / "stamp"
    first = start()
    assert (first.status, first.stderr.count(WARNING)) == (0, 1), first.stderr
    assert stamp.read_bytes().startswith(b"gradmill stamp")
    assert project.files() == project.clean_build()
    before = _left(project)
    second = start()
    assert (second.status, second.stderr) == (0, first.stderr)
    assert _left(project) == before
    default = project.run()
    assert (default.ran, default.stderr) == ([], first.stderr)
    return first


def _left(project: Project) -> dict[Path, int]:
    """When each file was written that the run left, but for the lock and those of an open database."""
    places = [project.folder / "stamp", *project.cached(), *project.generated.rglob("*")]
    return {path: path.stat().st_mtime_ns for path in places if not path.name.endswith(("-shm", "-wal", "lock"))}


@pytest.mark.parametrize("reporter", REPORTERS)
def test_a_run_ends_alike_whatever_reports_it(project: Project, reporter: str) -> None:
    stamp = project.folder / "stamp"
    run = assert_ended(project, lambda: project.run("-r", reporter, stamp=stamp))
    if reporter == "json":
        assert [task["result"] for task in json.loads(run.stdout)["tasks"]][: len(ANALYSIS)] == ["success"] * 6


@pytest.mark.parametrize(
    "words",
    [("run", "-r", "zero", "-v2"), ("-r", "console", "--continue", "-o", "report")],
    ids=["run", "-o"],
)
def test_a_run_ends_alike_with_other_options(project: Project, words: tuple[str, ...]) -> None:
    words = tuple(str(project.folder / word) if word == "report" else word for word in words)
    assert_ended(project, lambda: project.run(*words, stamp=project.folder / "stamp"))


def test_a_run_of_gradmill_ends_alike(project: Project) -> None:
    assert_ended(project, lambda: project.gradmill("-r", "json", stamp=project.folder / "stamp"))


def test_a_run_of_a_users_dodo_with_a_reporter_class_ends_alike(project: Project) -> None:
    (project.folder / "dodo.py").write_text(DODO)
    words = project.words
    words = ["-f", str(project.folder / "dodo.py"), *words, f"stamp={project.folder / 'stamp'}"]
    assert_ended(project, lambda: forked.doit(words, project.folder))


@pytest.mark.parametrize(
    ("reporter", "options", "status"),
    [
        *((reporter, (), 1) for reporter in (*REPORTERS, "gradmill")),
        *((reporter, ("--continue",), 2) for reporter in ("console", "gradmill")),
    ],
)
def test_an_error_is_reported_once_by_every_reporter(
    project: Project, reporter: str, options: tuple[str, ...], status: int
) -> None:
    project.set_formula("exp", "self", "grad * 4711")
    project.replace("derivatives.yaml", "self: grad * 4711", "slef: grad * 4711")
    run = project.run(*(() if reporter == "gradmill" else ("-r", reporter)), *options)
    assert run.status == status  # doit's: an error where tasks that depend on the one that failed are looked at, too
    assert run.stderr.count("error: exp: slef") == 1
    assert run.stderr.endswith("1 error\n")
    assert "Traceback" not in run.stderr + run.stdout
    if reporter == "json":
        failed = [task for task in json.loads(run.stdout)["tasks"] if task["result"] == "fail"]
        assert "error: exp: slef" in failed[0]["error"]
    else:
        assert "error: exp: slef" not in run.stdout


@pytest.mark.parametrize("reporter", ["zero", "json"])
def test_a_file_that_cannot_be_written_is_reported_whatever_reports_the_run(built: Project, reporter: str) -> None:
    (built.generated / "Functions.cpp").unlink()
    (built.generated / "Functions.cpp" / "inner").mkdir(parents=True)
    run = built.run("-r", reporter)
    assert run.status in (1, 2)
    assert "Functions.cpp" in run.stderr


def test_json_shows_when_the_work_of_a_task_began_and_how_long_it_took(project: Project) -> None:
    tasks = json.loads(project.run("-r", "json").stdout)["tasks"]
    times = {task["name"]: task["elapsed"] for task in tasks}
    assert times["specs"] > 0.001  # it parsed the YAML files
    begun = [task["started"] for task in tasks if task["name"] in ANALYSIS]
    assert begun == sorted(begun)
    again = json.loads(project.run("-r", "json").stdout)["tasks"]
    assert {task["result"] for task in again if ":" in task["name"]} == {"up-to-date"}
    assert all(task["elapsed"] is not None for task in again)


def test_a_dodo_of_others_keeps_doits_own_ways(tmp_path: Path) -> None:
    (tmp_path / "dodo.py").write_text("def task_a():\n    return {'actions': ['exit 1']}\n")
    run = forked.doit(["-r", "json"], tmp_path)
    assert run.status == 1
    assert [task["result"] for task in json.loads(run.stdout)["tasks"]] == ["fail"]


def test_json_of_a_run_that_is_interrupted_is_json(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.front.doit.tasks.Tasks._check", interrupt)
    run = project.run_patched("-r", "json")
    assert [(task["name"], task["result"]) for task in json.loads(run.stdout)["tasks"]] == [("specs", None)]


SLEF = "- name: exp(Tensor self) -> Tensor\n  slef: grad * result.conj()\n  result: auto_element_wise\n"


def test_a_warning_is_reported_by_every_run(built: Project) -> None:
    built.set_formula("exp", "self", "grad * slef")
    message = set()
    for words in ((), (), ("match",), ()):
        run = built.run(*words).ok()
        message.add(run.stderr)
    assert len(message) == 1
    assert "unknown name 'slef'" in message.pop()
    built.set_formula("sin", "self", "2 * grad * self.cos().conj()")
    assert "unknown name 'slef'" in built.run().stderr


def test_a_warning_is_an_error_for_a_strict_run_after_one_that_was_not(built: Project) -> None:
    built.set_formula("exp", "self", "grad * slef")
    for _ in range(2):
        time.sleep(TICK)
        assert built.run().status == 0
        assert built.run(strict=1).status == 1
    built.set_formula("exp", "self", "grad * self")
    assert built.run(strict=1).status == 0


@pytest.mark.parametrize("words", [("-c",), ("-a",), ("-c", "shard")])
def test_an_error_is_reported_once_with_all_options(built: Project, words: tuple[str, ...]) -> None:
    files = built.files()
    built.replace("derivatives.yaml", "- name: exp(Tensor self) -> Tensor\n  self: ", SLEF.partition(" grad")[0] + " ")
    plain = built.run()
    assert plain.status == 1
    run = built.run(*words)
    assert run.status in (1, 2)  # doit's: with --continue, tasks whose inputs are missing count too
    assert run.stderr == plain.stderr
    assert built.files() == files
