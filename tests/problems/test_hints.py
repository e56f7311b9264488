"""Comments that are no part of a formula, and texts that are none: what is not reported, and the hint of what is. What
is wrong within a formula: tests/bad/formulas.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
from copies import copy_of
from project import Project

from problems.test_bad_specs import BASE

EXP = "self: grad * result"
ON = "the formula is cut off: ' #' begins a comment that reads as its continuation [cut-off]"
NOTES = [  # comments after a formula that are no part of one
    "# - see above", "# == result", "# > 0", "# // * result", "# [gx, gy]", "# gx0 + 1j * gx1", "# * slow", "# ?",
]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("hints"), BASE, (BASE / "RELEASE").read_text()).build()


def test_a_comment_that_is_no_formula_is_not_reported(base: Project, tmp_path: Path) -> None:
    project = copy_of(base, tmp_path)
    for note in NOTES:
        project.set_formula("exp", "self", f"grad * result {note}")
        assert project.run("check").stdout.endswith(": no problems\n"), note


def test_a_comment_that_becomes_a_formula_runs_no_unit(base: Project, tmp_path: Path) -> None:
    project = copy_of(base, tmp_path)
    project.replace("derivatives.yaml", EXP, f"{EXP} # * result")
    run = project.run()
    assert (ON in run.stderr, {*run.ran} <= {"specs", "manifest"}) == (True, True), (run.ran, run.stderr)
    assert project.run().stderr == run.stderr  # remembered


def test_a_name_of_a_whole_file_is_no_operator(base: Project) -> None:
    run = base.run("explain", "mine/native_functions.yaml")
    assert "'mine/native_functions.yaml' is a whole file\n  name a line of it" in run.stderr


def test_a_byte_order_mark_in_a_description_is_skipped(base: Project, tmp_path: Path) -> None:
    toml = tmp_path / "specset.toml"
    toml.write_text(f'\ufeffname = "marked"\n[base]\nspecs = "{base.specs}"\n', encoding="utf-8")
    assert base.run("check", specs=toml).stdout == "marked: no problems\n"


@pytest.mark.parametrize("text", ["", "# none\n", "{}\n"])
def test_a_file_without_lists_is_empty(base: Project, tmp_path: Path, text: str) -> None:
    (tmp_path / "own.yaml").write_text(text)
    layer = 'name = "own"\nnative = { file = "own.yaml", list = "own" }'
    (tmp_path / "specset.toml").write_text(f'[base]\nspecs = "{base.specs}"\n[[layer]]\n{layer}\n')
    run = base.run("check", specs=tmp_path / "specset.toml")
    assert "there is no list 'own' in the file\n" in run.stdout, run
    assert "hint: the file is empty" in run.stdout, run
