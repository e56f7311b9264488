"""A truth table: in which state a project was, what happened to a file, and what a run does about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from project import ANALYSIS, SHARD_TASKS, Project

INPUT = "derivatives.yaml"
OUTPUT = "Functions.cpp"

EDITED = "at::mv(at::t(self).conj(), grad)"
EDIT = ["specs", "derivatives", "infos", "foreach", "match", "emit:MvBackward0", "shard:Functions.cpp", "manifest"]

# ---- states


def never_built(project: Project) -> None:
    pass


def clean(project: Project) -> None:
    project.build()


def edited(project: Project) -> None:
    project.build()
    project.set_formula("mv", "vec", EDITED)


def killed_early(project: Project) -> None:
    project.kill_after(2)


def killed_late(project: Project) -> None:
    project.kill_after(len(ANALYSIS) + 170)


def killed_after_an_edit(project: Project) -> None:
    edited(project)
    project.kill_after(5)


def forgotten(project: Project) -> None:
    project.build()
    for path in project.states():
        path.unlink()


# ---- what happens to a file


def nothing(project: Project) -> None:
    pass


def input_gone(project: Project) -> None:
    project.path(INPUT).unlink()


def input_gone_and_back(project: Project) -> None:
    data = project.path(INPUT).read_bytes()
    project.path(INPUT).unlink()
    project.path(INPUT).write_bytes(data)


def input_gone_and_back_with_new_content(project: Project) -> None:
    input_gone_and_back(project)
    project.set_formula("mv", "vec", EDITED)


def output_gone(project: Project) -> None:
    (project.generated / OUTPUT).unlink(missing_ok=True)


def output_gone_and_back(project: Project) -> None:
    path = project.generated / OUTPUT
    if path.exists():
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)


def output_with_new_content(project: Project) -> None:
    project.generated.mkdir(exist_ok=True)
    (project.generated / OUTPUT).write_text("// by hand\n")


# ---- the table: state, event, exit status, tasks (None: all of them, ANY: depends on the moment of the kill)

ALL = None
ANY = ["any"]
BACK = ["shard:Functions.cpp"]

TABLE: list[tuple[Callable[[Project], None], Callable[[Project], None], int, list[str] | None]] = [
    (never_built, nothing, 0, ALL),
    (never_built, input_gone, 1, ["specs"]),
    (never_built, input_gone_and_back, 0, ALL),
    (never_built, input_gone_and_back_with_new_content, 0, ALL),
    (never_built, output_with_new_content, 0, ALL),
    (clean, nothing, 0, []),
    (clean, input_gone, 1, ["specs"]),
    (clean, input_gone_and_back, 0, []),
    (clean, input_gone_and_back_with_new_content, 0, EDIT),
    (clean, output_gone, 0, BACK),
    (clean, output_gone_and_back, 0, []),
    (clean, output_with_new_content, 0, BACK),
    (edited, nothing, 0, EDIT),
    (edited, input_gone, 1, ["specs"]),
    (edited, input_gone_and_back, 0, EDIT),
    (edited, input_gone_and_back_with_new_content, 0, EDIT),
    (edited, output_gone, 0, EDIT),
    (edited, output_gone_and_back, 0, EDIT),
    (edited, output_with_new_content, 0, EDIT),
    (forgotten, nothing, 0, ALL),
    (forgotten, input_gone, 1, ["specs"]),
    (forgotten, input_gone_and_back, 0, ALL),
    (forgotten, input_gone_and_back_with_new_content, 0, ALL),
    (forgotten, output_gone, 0, ALL),
    (forgotten, output_gone_and_back, 0, ALL),
    (forgotten, output_with_new_content, 0, ALL),
    (killed_early, nothing, 0, ANY),
    (killed_early, input_gone, 1, ["specs"]),
    (killed_early, input_gone_and_back_with_new_content, 0, ANY),
    (killed_early, output_with_new_content, 0, ANY),
    (killed_late, nothing, 0, ANY),
    (killed_late, input_gone, 1, ["specs"]),
    (killed_late, input_gone_and_back, 0, ANY),
    (killed_late, input_gone_and_back_with_new_content, 0, ANY),
    (killed_late, output_gone, 0, ANY),
    (killed_late, output_with_new_content, 0, ANY),
    (killed_after_an_edit, nothing, 0, ANY),
    (killed_after_an_edit, input_gone, 1, ["specs"]),
    (killed_after_an_edit, input_gone_and_back, 0, ANY),
    (killed_after_an_edit, output_gone, 0, ANY),
    (killed_after_an_edit, output_gone_and_back, 0, ANY),
    (killed_after_an_edit, output_with_new_content, 0, ANY),
]


@pytest.mark.parametrize(
    ("state", "event", "status", "tasks"), TABLE, ids=[f"{row[0].__name__}-{row[1].__name__}" for row in TABLE]
)
def test_a_run_completes_what_there_is_to_do_and_no_more(
    project: Project,
    state: Callable[[Project], None],
    event: Callable[[Project], None],
    status: int,
    tasks: list[str] | None,
) -> None:
    state(project)
    event(project)
    before = project.files(), project.mtimes()
    run = project.run()
    assert run.status == status, run.stderr
    if tasks is ALL:
        emitted = [task for task in run.ran if task.startswith("emit:")]
        assert len(emitted) > 150
        assert sorted(run.ran) == sorted([*ANALYSIS, *emitted, *SHARD_TASKS, "manifest"])
    elif tasks is not ANY:
        assert run.ran == tasks
    if status:
        assert (project.files(), project.mtimes()) == before
    else:
        assert project.files() == project.clean_build()
        assert project.run().ran == []


@pytest.mark.parametrize("tasks", [1, 6, 60, 160])
def test_a_run_killed_again_and_again_comes_to_its_end(project: Project, tasks: int) -> None:
    for _ in range(3):
        project.kill_after(tasks)
    project.build()
    assert project.files() == project.clean_build()


def test_a_killed_run_leaves_no_half_written_file(built: Project) -> None:
    before = built.files()
    built.append("templates/python_functions.cpp", "// The end.")
    built.kill_after(8)  # while the shards are written
    after = built.clean_build()
    assert all(data in (before[name], after[name]) for name, data in built.files().items() if name in after)
    assert set(before) <= set(built.files())
