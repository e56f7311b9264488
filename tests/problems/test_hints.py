"""Comments that are no part of a formula, and texts that are none: what is not reported, and the hint of what is. What
is wrong within a formula: tests/bad/formulas.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project

EXP = "self: grad * result"
ON = "the formula is cut off: ' #' begins a comment that reads as its continuation [cut-off]"
NOTES = [  # comments after a formula that are no part of one
    "# - see above", "# == result", "# > 0", "# // * result", "# [gx, gy]", "# gx0 + 1j * gx1", "# * slow", "# ?",
]  # fmt: skip


def test_a_comment_that_is_no_formula_is_not_reported(project: Project) -> None:
    for note in NOTES:
        project.set_formula("exp", "self", f"grad * result {note}")
        assert project.run("check").stdout.endswith(": no problems\n"), note


def test_a_comment_that_becomes_a_formula_runs_no_unit(project: Project) -> None:
    project.replace("derivatives.yaml", EXP, f"{EXP} # * result")
    run = project.run()
    assert (ON in run.stderr, {*run.ran} <= {"specs", "manifest"}) == (True, True), (run.ran, run.stderr)
    assert project.run().stderr == run.stderr  # remembered


def test_a_name_of_a_whole_file_is_no_operator(project: Project) -> None:
    run = project.run("explain", "mine/native_functions.yaml")
    assert "'mine/native_functions.yaml' is a whole file\n  name a line of it" in run.stderr


def test_a_byte_order_mark_in_a_description_is_skipped(project: Project, tmp_path: Path) -> None:
    toml = tmp_path / "specset.toml"
    toml.write_text(f'\ufeffname = "marked"\n[base]\nspecs = "{project.specs}"\n', encoding="utf-8")
    assert project.run("check", specs=toml).stdout == "marked: no problems\n"


@pytest.mark.parametrize("text", ["", "# none\n", "{}\n"])
def test_a_file_without_lists_is_empty(project: Project, tmp_path: Path, text: str) -> None:
    (tmp_path / "own.yaml").write_text(text)
    layer = 'name = "own"\nnative = { file = "own.yaml", list = "own" }'
    (tmp_path / "specset.toml").write_text(f'[base]\nspecs = "{project.specs}"\n[[layer]]\n{layer}\n')
    run = project.run("check", specs=tmp_path / "specset.toml")
    assert "there is no list 'own' in the file\n" in run.stdout, run
    assert "hint: the file is empty" in run.stdout, run
