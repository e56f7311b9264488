"""`explain` of helpers and of lines of the spec files: what is made from them, and why it would be rebuilt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project import Project
from vendors.vendor import Vendor

HEADER = """\
#pragma once
namespace torch::autograd::generated::details {
TORCH_API at::Tensor exp_gradient(
    const at::Tensor& grad, const at::Tensor& result);
TORCH_API at::Tensor unused(const at::Tensor& grad);
}
"""


def line_with(path: Path, text: str) -> int:
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


@pytest.fixture
def called(built: Project) -> Project:
    """A set with a header, whose helper the formula of `exp` calls."""
    built.path("derivatives.yaml").with_name("FunctionsManual.h").write_text(HEADER)
    built.set_formula("exp", "self", "exp_gradient(grad, result)")
    return built.build()


# ---- helpers


def test_a_helper_has_its_declaration_its_formulas_and_its_units(called: Project) -> None:
    line = line_with(called.path("derivatives.yaml"), "- name: exp(")
    shown = called.run("explain", "exp_gradient").stdout.splitlines()
    assert shown[:3] == [
        "exp_gradient: function that formulas call",
        "  made from  FunctionsManual.h:3 at::Tensor exp_gradient( const at::Tensor& grad, const at::Tensor& result);",
        f"  used by    {called.path('derivatives.yaml')}:{line} exp: self",
    ]
    assert [each.split(",")[0].split()[-1] for each in shown[3:-1]] == ["ExpBackward0", "ForeachExpBackward0"]
    assert shown[-1] == "  up to date"


def test_a_helper_of_the_release_is_known_without_its_header(built: Project) -> None:
    built.set_formula("exp", "self", "pow_backward_self(grad, self, result)")
    built.build()
    (explained,) = json.loads(built.run("explain", "pow_backward_self", format="json").stdout)
    assert explained["made_from"] == ["FunctionsManual.h of the release, takes 3 arguments"]
    assert [each.split()[1:] for each in explained["used_by"]] == [["exp:", "self"]]
    assert explained["made_into"][0].startswith("ExpBackward0, in Functions.h")


def test_an_edited_formula_is_why_what_calls_the_helper_would_be_rebuilt(called: Project) -> None:
    called.set_formula("exp", "self", "1 * exp_gradient(grad, result)")
    last = called.run("explain", "exp_gradient").stdout.splitlines()[-1]
    assert last.startswith("  to be rebuilt: derivatives.yaml:") and "ForeachExpBackward0" in last


def test_a_helper_that_no_formula_calls_says_so(called: Project) -> None:
    assert "used by    no formula of this set" in called.run("explain", "unused").stdout


def test_a_line_of_a_header_is_its_helper(called: Project) -> None:
    assert called.run("explain", "FunctionsManual.h:3").stdout == called.run("explain", "exp_gradient").stdout
    assert "declares no function" in called.run("explain", "FunctionsManual.h:2").stderr


def test_a_misspelt_helper_is_suggested(called: Project) -> None:
    run = called.run("explain", "exp_gradeint")
    assert run.status == 3 and "did you mean 'exp_gradient'?" in run.stderr


# ---- entries


def test_a_line_of_an_entry_has_the_units_made_from_it(built: Project) -> None:
    path = built.path("derivatives.yaml")
    line = line_with(path, "- name: exp(")
    for place in (f"derivatives.yaml:{line}", f"{path}:{line}:3:", f"./{path.name}:{line}"):
        first, *rest = built.run("explain", place).stdout.splitlines()
        assert first == f"{place.removesuffix(':3:')}: the entry of exp(Tensor self) -> Tensor"
        assert "  made into  ExpBackward0, in Functions.h, Functions.cpp" in rest[0]
        assert rest[1].lstrip().startswith("ForeachExpBackward0, in ") and rest[2:] == ["  up to date"]
    field = built.run("explain", f"derivatives.yaml:{line + 1}").stdout.partition("\n")[0]
    assert field == f"derivatives.yaml:{line + 1}: self, in the entry of exp(Tensor self) -> Tensor"


def test_an_edited_line_has_the_reason(built: Project) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    line = line_with(built.path("derivatives.yaml"), "- name: exp(")
    shown = built.run("explain", f"derivatives.yaml:{line + 1}").stdout.splitlines()
    assert shown[-1] == (f"  to be rebuilt: derivatives.yaml:{line} exp changed; ExpBackward0, ForeachExpBackward0")


def test_lines_of_the_other_yaml_files_are_known(built: Project) -> None:
    line = line_with(built.path("native_functions.yaml"), "- func: exp(")
    assert "ExpBackward0, in " in built.run("explain", f"native_functions.yaml:{line}").stdout
    line = line_with(built.path("tags.yaml"), "- tag: core")
    assert "the entry of core" in built.run("explain", f"tags.yaml:{line}").stdout


def test_a_line_between_entries_names_the_next_one(built: Project) -> None:
    path = built.path("derivatives.yaml")
    line = line_with(path, "- name: exp(")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[: line - 1], "# about exp", *lines[line - 1 :]]) + "\n")
    run = built.run("explain", f"derivatives.yaml:{line}")
    assert run.status == 3
    assert f"line {line} of derivatives.yaml belongs to no entry" in run.stderr
    assert f"the next entry is that of exp, at line {line + 1}" in run.stderr


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("derivatives.yaml:0", "derivatives.yaml has no line 0"),
        ("derivatives.yaml:99999", "derivatives.yaml has no line 99999"),
        ("derivative.yaml:3", "did you mean 'derivatives.yaml'?"),
        ("../elsewhere/derivatives.yaml:3", "is not a file of this spec set"),
    ],
)
def test_a_line_that_is_none_is_refused(built: Project, word: str, message: str) -> None:
    (built.folder / "elsewhere").mkdir()
    (built.folder / "elsewhere" / "derivatives.yaml").write_text("- name: other\n- name: one\n- name: two\n")
    if word.startswith(".."):
        word = word.replace("..", str(built.folder))
    run = built.run("explain", word)
    assert run.status == 3 and run.stdout == ""
    assert message in run.stderr and "Traceback" not in run.stderr


# ---- described sets


@pytest.fixture
def vendor(layers_built: Vendor, tmp_path: Path) -> Vendor:
    return layers_built.copy(tmp_path)


def test_a_key_of_the_description_has_its_meaning_and_its_entries(vendor: Vendor) -> None:
    line = line_with(vendor.path("specset.toml"), 'native = { file = "accel')
    first, second, *rest = vendor.run("explain", f"specset.toml:{line}").stdout.splitlines()
    assert first == f"specset.toml:{line}: the key layer[0].native: files of functions"
    assert second == "  made from  accel/functions.yaml: 4 entries"
    assert rest[0].startswith("  made into  SwishBackward0, in ")
    line = line_with(vendor.path("specset.toml"), 'order = "file"')
    shown = vendor.run("explain", f"set/specset.toml:{line}").stdout
    assert shown.startswith(f"set/specset.toml:{line}: the key functions.order: by C++ name, as they are written, or")
    vendor.replace("specset.toml", 'order = "file"', 'order = "name"')
    assert "to be rebuilt: the description" in vendor.run("explain", f"set/specset.toml:{line}").stdout


def test_before_the_first_build_a_key_is_not_up_to_date(tmp_path: Path) -> None:
    vendor = Vendor(tmp_path)
    line = line_with(vendor.path("specset.toml"), 'order = "file"')
    assert "  to be rebuilt: never built\n" in vendor.run("explain", f"set/specset.toml:{line}").stdout


def test_a_function_that_gets_a_kernel_is_led_to_by_the_description(vendor: Vendor) -> None:
    vendor.replace("specset.toml", 'exclude = ["noise"]', "exclude = []")
    (edit,) = vendor.run("explain").stdout.splitlines()
    assert edit.startswith("the description → ") and "VariableType::noise" in edit and "VariableType_0.cpp" in edit


def test_a_line_of_the_description_without_a_key_is_refused(vendor: Vendor) -> None:
    run = vendor.run("explain", "specset.toml:4")
    assert run.status == 3 and "line 4 of specset.toml has no key" in run.stderr


def test_a_line_of_a_layer_or_of_a_diff_is_that_of_its_entry(vendor: Vendor) -> None:
    line = line_with(vendor.path("accel/functions.yaml"), "swish(")
    assert "the entry of swish(" in vendor.run("explain", f"accel/functions.yaml:{line}").stdout
    line = line_with(vendor.path("base_functions.patch"), "+- func: ")
    assert "the entry of count(" in vendor.run("explain", f"base_functions.patch:{line}").stdout
    line = line_with(vendor.folder / "base" / "native_functions.yaml", "- func: mm(")
    assert "the entry of mm(" in vendor.run("explain", f"base/native_functions.yaml:{line}").stdout


def test_several_files_of_one_name_are_listed(vendor: Vendor) -> None:
    run = vendor.run("explain", "functions.yaml:9")
    assert run.status == 3
    assert "name one by its path: set/accel/functions.yaml, set/plugin/config/functions.yaml" in run.stderr
