"""Each row of the table of docs/contributing/design.md, whichever way a set is brought up to date: by a run, by doit,
by an action alone, or by a session that stays in memory, as that of `watch` and of a persistent worker does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from project import Project, Run

from gradmill.builds.worker.actions import Actions

FORMULA, SLIP = "grad * result.conj() * 3", "grad\n  slef: grad"
Update = Callable[[], tuple[int, str]]  # brings the files up to date; the status and the report


EDITS: dict[str, Callable[[Project], object]] = {
    "nothing": lambda project: None,
    "a comment": lambda project: project.append("derivatives.yaml", "# a comment"),
    "a formula": lambda project: project.set_formula("exp", "self", FORMULA),
    "an entry removed": lambda project: project.remove_entry("exp"),
    "a template": lambda project: project.replace(
        "templates/variable_factories.h", "#pragma once", "#pragma once  // edited"
    ),
    "a deleted file": lambda project: (project.generated / "Functions.cpp").unlink(),
    "a truncated file": lambda project: (project.generated / "Functions.h").write_bytes(b""),
}
LOST = {"a deleted file": {"Functions.cpp"}, "a truncated file": {"Functions.h"}}
WRITES_NOTHING = ("nothing", "a comment")
WAYS = ("run", "doit", "action", "kept")


@pytest.fixture(params=WAYS)
def update(request: pytest.FixtureRequest, tiny: Project) -> Iterator[Update]:
    """What brings `tiny` up to date."""

    def of(run: Run) -> tuple[int, str]:
        return run.status, run.stderr

    if request.param == "run":
        yield lambda: of(tiny.run())
    elif request.param == "doit":
        yield lambda: of(tiny.doit())
    elif request.param == "action":
        yield lambda: of(tiny.run("worker"))
    else:
        with closing(Actions(tiny.values)) as actions:

            def again() -> tuple[int, str]:
                done = actions.run([], frozenset())
                return done.status, done.report

            yield again


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_gives_what_a_clean_build_gives_and_writes_no_more(tiny: Project, update: Update, edit: str) -> None:
    assert update() == (0, "")
    before, times = tiny.files(), tiny.mtimes()
    EDITS[edit](tiny)
    assert update() == (0, "")
    after = tiny.files()
    assert after == tiny.clean_build()
    written = {name for name, time in tiny.mtimes().items() if time != times.get(name)}
    changed = {name for name in after if after[name] != before.get(name)}
    assert written == changed | LOST.get(edit, set())
    assert bool(written) == (edit not in WRITES_NOTHING)
    assert tiny.manifest() == tiny.clean_manifest()


def test_an_error_changes_no_file_and_its_mend_only_what_changed(tiny: Project, update: Update) -> None:
    assert update() == (0, "")
    times = tiny.mtimes()
    tiny.set_formula("exp", "self", SLIP)
    status, report = update()
    assert status and "derivatives.yaml" in report
    assert tiny.mtimes() == times
    tiny.replace("derivatives.yaml", f"self: {SLIP}\n", f"self: {FORMULA}\n")
    assert update() == (0, "")
    assert tiny.files() == tiny.clean_build()
    written = {name for name, time in tiny.mtimes().items() if time != times[name]}
    assert written and "Functions.h" not in written
