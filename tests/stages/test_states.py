"""A truth table: in which state a project was, what happened to a file, and what a run does about it.

Contract: a run killed at any point is completed by the next one; a generated file edited or deleted by hand is put
back; a spec with an error changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import pytest
from project import ANALYSIS, Project

INPUT = "derivatives.yaml"
OUTPUT = "Functions.cpp"

EDITED = "at::mv(at::t(self).conj(), grad)"

# What a run does before it comes to the files: all, what the edit asks for, nothing.
ALL = "all"
EDIT = ["specs", "derivatives", "infos", "emit:MvBackward0"]
NOTHING: list[str] = []

# ---- states: of a project that was never built, or, where the argument says so, of one that was


def never_built(project: Project) -> None:
    pass


def clean(built: Project) -> None:
    pass


def edited(built: Project) -> None:
    built.set_formula("mv", "vec", EDITED)


def killed_early(project: Project) -> None:
    project.kill_after(2)


def killed_among_the_units(project: Project) -> None:
    project.kill_after(len(ANALYSIS) + 20)


def killed_among_the_files(project: Project) -> None:
    project.kill_after(len(project.unit_names()) + len(ANALYSIS) + 3)


def killed_after_an_edit(built: Project) -> None:
    edited(built)
    built.kill_after(4)


def killed_among_the_files_of_an_edit(built: Project) -> None:
    built.set_formula("mv", "vec", EDITED)
    built.append("templates/Functions.h", "// The end.")
    built.kill_after(9)


def without_rows(built: Project) -> None:
    built.rows.unlink()


def without_last(built: Project) -> None:
    for path in built.rows.parent.glob("last-*"):
        path.unlink()


# ---- what happens to a file


def nothing(project: Project) -> None:
    pass


def input_deleted(project: Project) -> None:
    project.path(INPUT).unlink()


def input_deleted_and_back(project: Project) -> None:
    data = project.path(INPUT).read_bytes()
    project.path(INPUT).unlink()
    project.path(INPUT).write_bytes(data)


def input_with_new_content(project: Project) -> None:
    project.set_formula("mv", "vec", EDITED)


def output_deleted(project: Project) -> None:
    (project.generated / OUTPUT).unlink(missing_ok=True)


def output_deleted_and_back(project: Project) -> None:
    path = project.generated / OUTPUT
    if path.exists():
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)


def output_edited(project: Project) -> None:
    path = project.generated / OUTPUT
    if path.exists():
        path.write_bytes(path.read_bytes() + b"// by hand\n")


EVENTS = [
    nothing,
    input_deleted,
    input_deleted_and_back,
    input_with_new_content,
    output_deleted,
    output_deleted_and_back,
    output_edited,
]

# ---- the table: a state, what the next run does before it comes to the files, and what after an edit

State = Callable[[Project], None]
TABLE: list[tuple[State, str | list[str], str | list[str]]] = [
    (never_built, ALL, ALL),
    (clean, NOTHING, EDIT),
    (edited, EDIT, EDIT),
    (killed_early, ALL, ALL),
    (killed_among_the_units, ALL, ALL),
    (killed_among_the_files, ALL, ALL),
    (killed_after_an_edit, EDIT, EDIT),
    (killed_among_the_files_of_an_edit, EDIT, EDIT),
    (without_rows, ALL, ALL),
    (without_last, NOTHING, EDIT),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(("state", "tasks", "tasks_of_edit"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_a_run_completes_what_there_is_to_do_and_no_more(
    request: pytest.FixtureRequest,
    state: State,
    event: Callable[[Project], None],
    tasks: str | list[str],
    tasks_of_edit: str | list[str],
) -> None:
    (begin,) = signature(state).parameters
    project: Project = request.getfixturevalue(begin)
    state(project)
    event(project)
    before, times = project.files(), project.mtimes()
    if event is input_deleted:
        run = project.run()
        assert (run.status, run.ran) == (1, ["specs"])
        assert INPUT in run.stderr
        assert (project.files(), project.mtimes()) == (before, times)
        return
    wanted, manifest = project.clean_build(), project.clean_manifest()
    printed = project.manifest() if project.rows.with_name("manifest.json").exists() else b""
    run = project.run()
    assert run.status == 0, run.stderr
    expected = tasks_of_edit if event is input_with_new_content else tasks
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
