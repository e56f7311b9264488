"""A truth table: in which state a project was, what happened to a file, and what a run does about it.

Contract: a run killed at any point is completed by the next one; a generated file edited or deleted by hand is put
back; a spec with an error changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from project import ANALYSIS, Project

INPUT = "derivatives.yaml"
OUTPUT, TEMPLATE = "Functions.cpp", "templates/Functions.h"
INPUT_DELETED, NEW_CONTENT = "input deleted", "input with new content"

EDITED = "at::mv(at::t(self).conj(), grad)"

# What a run does before it comes to the files: all, what the edit asks for, nothing.
ALL = "all"
EDIT = ["specs", "derivatives", "infos", "emit:MvBackward0"]
NOTHING: list[str] = []

State = Callable[[Project], object]


def edit(project: Project) -> None:
    project.set_formula("mv", "vec", EDITED)


def edit_and(*more: State) -> State:
    return lambda project: [each(project) for each in (edit, *more)]


def among_the_files(project: Project) -> None:
    project.kill_after(len(project.unit_names()) + len(ANALYSIS) + 3)


def without_last(project: Project) -> None:
    for path in project.rows.parent.glob("last-*"):
        path.unlink()


# Of a project that was built, or never: what happened to it, what the next run does before it comes to the files, and
# what after an edit.
TABLE: dict[str, tuple[str, State, str | list[str], str | list[str]]] = {
    "never built": ("project", lambda project: None, ALL, ALL),
    "clean": ("built", lambda project: None, NOTHING, EDIT),
    "edited": ("built", edit, EDIT, EDIT),
    "killed early": ("project", lambda project: project.kill_after(2), ALL, ALL),
    "killed among the units": ("project", lambda project: project.kill_after(len(ANALYSIS) + 20), ALL, ALL),
    "killed among the files": ("project", among_the_files, ALL, ALL),
    "killed after an edit": ("built", edit_and(lambda project: project.kill_after(4)), EDIT, EDIT),
    "killed among the files of an edit": (
        "built",
        edit_and(lambda project: project.append(TEMPLATE, "// The end."), lambda project: project.kill_after(9)),
        EDIT,
        EDIT,
    ),
    "without rows": ("built", lambda project: project.rows.unlink(), ALL, ALL),
    "without last": ("built", without_last, NOTHING, EDIT),
}


def deleted_and_back(path: Path) -> None:
    if path.exists():
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)


EVENTS: dict[str, State] = {  # what happens to a file then
    "nothing": lambda project: None,
    INPUT_DELETED: lambda project: project.path(INPUT).unlink(),
    "input deleted and back": lambda project: deleted_and_back(project.path(INPUT)),
    NEW_CONTENT: edit,
    "output deleted": lambda project: (project.generated / OUTPUT).unlink(missing_ok=True),
    "output deleted and back": lambda project: deleted_and_back(project.generated / OUTPUT),
    "output edited": lambda project: edited_by_hand(project.generated / OUTPUT),
}


def edited_by_hand(path: Path) -> None:
    if path.exists():
        path.write_bytes(path.read_bytes() + b"// by hand\n")


@pytest.mark.slow
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", TABLE)
def test_a_run_completes_what_there_is_to_do_and_no_more(
    request: pytest.FixtureRequest, state: str, event: str
) -> None:
    begin, happen, tasks, tasks_of_edit = TABLE[state]
    project: Project = request.getfixturevalue(begin)
    happen(project)
    EVENTS[event](project)
    before, times = project.files(), project.mtimes()
    if event == INPUT_DELETED:
        run = project.run()
        assert (run.status, run.ran) == (1, ["specs"])
        assert INPUT in run.stderr
        assert (project.files(), project.mtimes()) == (before, times)
        return
    wanted, manifest = project.clean_build(), project.clean_manifest()
    printed = project.manifest() if project.rows.with_name("manifest.json").exists() else b""
    run = project.run().ok()
    expected = tasks_of_edit if event == NEW_CONTENT else tasks
    if expected is ALL:
        expected = [*ANALYSIS, *(f"emit:{unit}" for unit in project.unit_names())]
    assert sorted(run.ran[: len(expected)]) == sorted(expected)
    files = [f"shard:{name}" for name in run.shards]
    assert sorted(run.shards) == sorted(name for name, data in wanted.items() if before.get(name) != data)
    assert run.ran[len(expected) :] == [*files, *(["manifest"] if printed != manifest else [])]
    assert project.files() == wanted
    assert {n for n, time in project.mtimes().items() if times.get(n) != time} == {*run.shards}
    assert project.manifest() == manifest
    assert project.run().ran == []


@pytest.mark.parametrize("tasks", [6, 75])
def test_a_run_killed_again_and_again_comes_to_its_end(project: Project, tasks: int) -> None:
    for _ in range(2):
        project.kill_after(tasks)
    project.build()
    assert project.files() == project.clean_build()
    assert project.run().ran == []


def test_a_killed_run_leaves_no_half_written_file(built: Project) -> None:
    before = built.files()
    built.append("templates/python_functions.cpp", "// The end.")
    built.kill_after(8 + 3)  # while the shards are written
    after = built.clean_build()
    actual = {name: data for name, data in built.files().items() if name in after}
    assert all(data in (before[name], after[name]) for name, data in actual.items())
    assert set(actual) == set(after)
