"""What to do about an error that torchgen or PyYAML names otherwise: the line, and the hint."""

from __future__ import annotations

from pathlib import Path

import pytest
from copies import copy_of
from project import Project

from problems.test_bad_specs import BASE

EXP, SORT = "self: grad * result", "self: unsort(grad, indices, dim, self.sym_sizes())"
FLAGS = "output_differentiability: [True, False]"
QUOTES = "hint: put the text in quotes: '{}' at its start is a mark of YAML"
ON = "the formula is cut off: ' #' begins a comment that reads as its continuation [cut-off]"
ROWS = [  # a text of derivatives.yaml, what it becomes, the place that is reported, a part of the report
    (EXP, "self: - grad", "9:9", QUOTES.format("-")),
    (EXP, "self: *grad", "9:9", QUOTES.format("*")),
    (EXP, "self: !grad.defined() ? grad : result", "9:9", QUOTES.format("!")),
    (EXP, "self: @grad", "9:9", QUOTES.format("@")),
    (EXP, "self: > 0 ? grad : result", "9:9", QUOTES.format(">")),
    (EXP, "self: [grad] + result", "9:9", QUOTES.format("[")),
    (EXP, 'self: "x" == result ? grad : result', "9:9", "hint: put the whole text in quotes"),
    (EXP, "self:grad", "9:8", "no space after 'self:'"),
    ("  result: auto_element_wise", "  result:auto_element_wise", "10:10", "no space after 'result:'"),
    ("- name: exp(", "- name:exp(", "8:8", "no space after 'name:'"),
    (EXP, "self: not_implemented", "9:9", 'hint: write not_implemented("NAME")'),
    (EXP, "self: grad * cat_backward", "9:16", "hint: 'cat_backward' is a function: call it"),
    (EXP, "self: grad * result0", "9:16", "hint: the output is called 'result'"),
    (SORT, SORT.replace("indices", "result1"), "18:22", "hint: the output is called 'indices'"),
    (SORT, SORT.replace("indices", "result"), "18:22", "hint: outputs: values, indices"),
    (SORT, SORT.replace("indices", "result2"), "18:22", "hint: outputs: values, indices"),
    (SORT, "self: corner_backward(grad)", "18:9", "hint: only the C++ compiler can check it"),
    (SORT, "self: cumsum_bakward(grad, dim)", "18:9", "hint: did you mean 'cumsum_backward'?"),
    (FLAGS, "output_differentiability: None", "19:29", "output_differentiability is not a list: 'None'"),
    (EXP, "self: grad # * self.sgn()", "9:14", ON),
    (EXP, "self: grad #.conj()", "9:14", ON),
    (EXP, "self: grad\n    * result # - 1", "10:14", ON),
    (EXP, "self: grad # > 0 ? grad : result", "9:14", ON),
    ("result: self_t + other_t * alpha", "result: self_t # + other_p * alpha", "6:18", ON),
    ("      self: grad * (result", "      self: grad # * (result", "35:18", ON),
    (EXP, "self: at::sum(grad, 'x')", "9:23", "hint: write text in double quotes, or the number"),
    (EXP, "self: grad.sum('x')", "9:18", "'x' is a number in C++: a character literal [character]"),
]  # fmt: skip
NOTES = [  # comments after a formula that are no part of one
    "# - see above", "# == result", "# > 0", "# // * result", "# [gx, gy]", "# gx0 + 1j * gx1", "# * slow", "# ?",
]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("hints"), BASE, (BASE / "RELEASE").read_text()).build()


@pytest.mark.parametrize(("old", "new", "place", "report"), ROWS, ids=[row[1] for row in ROWS])
def test_an_error_is_reported_where_it_is_with_what_to_do(
    base: Project, tmp_path: Path, old: str, new: str, place: str, report: str
) -> None:
    project = copy_of(base, tmp_path)
    project.replace("derivatives.yaml", old, new)
    run = project.run("check")
    assert f"derivatives.yaml:{place}: " in run.stdout, run.stdout
    assert report in run.stdout, run.stdout
    assert run.stdout.endswith(("\n1 error\n", "\n1 warning\n")), run.stdout


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
