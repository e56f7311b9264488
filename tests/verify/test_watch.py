"""`watch verify=1`: an edit's formulas are verified while it goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from project import Project
from watching import Watching

pytestmark = pytest.mark.slow(8)  # they compile

COMPILING = 300  # seconds, on a busy machine
WRONG, RIGHT = "grad.ger(vec)", "vec.conj().ger(grad).t()"


@pytest.fixture
def watching(built: Project) -> Iterator[Watching]:
    started = Watching(built, verify=1)
    started.wait_for("watching")
    yield started
    if started.process.poll() is None:
        started.stop()


def processes_of(project: Project) -> list[str]:
    """The command lines of the processes that verify formulas of a set."""
    lines = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
            folder = os.readlink(path / "cwd")
        except OSError:
            continue
        text = " ".join(words)
        if str(project.folder) in text + folder and (
            "verify" in words or "pipeline/gradmill/extensions/verify/" in text or "verify.child" in text
        ):
            lines.append(text)
    return lines


def test_a_formula_that_an_edit_makes_wrong_is_reported_and_so_is_the_mended_one(
    built: Project, watching: Watching
) -> None:
    built.set_formula("mv", "self", WRONG)
    assert "MvBackward0" in watching.wait_for(" ms: ")
    assert "error: mv: self: the gradient of self" in watching.wait_for("derivatives.yaml:", patience=COMPILING)
    watching.wait_for("1 wrong, with torch", patience=COMPILING)
    built.set_formula("mv", "self", RIGHT)
    watching.wait_for(" ms: ")
    assert watching.wait_for("with torch", patience=COMPILING).startswith("1 verified")
    built.set_formula("mv", "self", WRONG)  # known from earlier
    assert watching.wait_for("with torch", patience=COMPILING).endswith("; 1 known from earlier\n")
    assert watching.stop() == 0


def test_the_next_edit_ends_a_verification_that_still_runs(built: Project, watching: Watching) -> None:
    built.set_formula("mv", "self", WRONG)
    watching.wait_for(" ms: ")
    watching.wait_while(lambda: not processes_of(built), patience=COMPILING)
    first = set(processes_of(built))
    built.set_formula("sin", "self", "grad * -self.cos().conj()")
    watching.wait_for(" ms: ")
    watching.wait_while(lambda: bool(first & set(processes_of(built))))
    assert watching.wait_for("with torch", patience=COMPILING).startswith("2 wrong")
    assert watching.stop() == 0
    assert not list((built.rows.parent / "verify").glob("work-*"))


def test_the_end_of_watch_ends_a_verification(built: Project, watching: Watching) -> None:
    built.set_formula("mv", "self", WRONG)
    watching.wait_for(" ms: ")
    watching.wait_while(lambda: not processes_of(built), patience=COMPILING)
    assert watching.stop() == 0
    watching.wait_while(lambda: bool(processes_of(built)))
    assert not list((built.rows.parent / "verify").glob("verdict-*"))  # it did not come to its end


def test_an_error_in_the_specs_verifies_nothing(built: Project, watching: Watching) -> None:
    built.set_formula("mv", "self", "grad * ")
    built.replace("derivatives.yaml", "self: grad * \n", "slef: grad\n")
    watching.wait_for("error")
    assert processes_of(built) == []
    assert watching.stop() == 0
