"""Families that print calls of operators: C++ functions, kernels that call other variants, functionalization."""

from __future__ import annotations

import re
import shutil

import pytest
from project import Project
from torchgen_gen import SHIMS, Refused

from aten.conftest import FOLDER, Expected, generated

FAMILIES = "cpp_api,composite_kernels,functionalize,view_metas"
SELECTED = "operators:\n  aten::exp: {}\n  aten::odd_look: {}\n"


@pytest.fixture
def odd(aten: Project) -> Project:
    """The set with more odd functions."""
    aten.append("native_functions.yaml", (FOLDER / "odd_functions.yaml").read_text())
    return aten


def test_odd_calls_equal_torchgens(odd: Project, by_gen: Expected) -> None:
    files, expected = generated(odd, families=FAMILIES), by_gen()
    assert {name for name in files if files[name] != expected[name]} == set()
    of_operators = {name.replace("_ops.h", ".h") for name in expected if name.endswith("_ops.h")}
    assert of_operators <= files.keys()
    assert len(of_operators) > 20
    assert b"odd_pieces_ViewMeta>(has_symbolic_inputs, 0," in files["RegisterFunctionalizationEverything.cpp"]
    assert b"struct TORCH_API odd_views_ViewMeta" in files["ViewMetaClasses.h"]


def test_selected_operators_are_not_functionalized(odd: Project, by_gen: Expected) -> None:
    path = odd.specs / "selected.yaml"
    path.write_text(SELECTED)
    files = generated(odd, families=FAMILIES, operators=path)
    expected = by_gen(f"--op-selection-yaml-path={path}")
    assert {name for name in files if files[name] != expected[name]} == set()
    assert b"m.impl" not in files["RegisterFunctionalizationEverything.cpp"]


def test_holes_within_lines_are_filled_as_torchgen_fills_them(odd: Project, by_gen: Expected) -> None:
    """Of all templates: a list has the items of torchgen's, some of which end with a line end, or are empty."""
    for path in (odd.specs / "ATen" / "templates").iterdir():
        path.write_text(re.sub(r"(?m)^([^\n\S]*)(\$\{\w+\})", r"\1x \2 y", path.read_text()))
    files, expected = generated(odd, families="aten"), by_gen()
    names = {name for name in expected if not name.startswith(SHIMS)}
    assert {name for name in names if files.get(name) != expected[name]} == set()


def test_a_hole_that_takes_lines_only_is_refused_within_one(odd: Project) -> None:
    template = odd.specs / "ATen" / "templates" / "NativeFunctions.h"
    template.write_text(
        template.read_text().replace("${NativeFunctions_declarations}", "x ${NativeFunctions_declarations}")
    )
    odd.build(families="headers")
    odd.run(families="headers", operator_headers=0).failed(
        "NativeFunctions.h:", "error: the hole '${NativeFunctions_declarations}' is not alone on its line"
    )


def test_files_without_a_comment_are_known_by_the_start_of_their_template(odd: Project) -> None:
    """As after the cache and the record were deleted. Others stay."""
    odd.build(families="headers")
    shutil.rmtree(odd.generated / ".gradmill")
    shutil.rmtree(odd.cache)
    native = odd.path("native_functions.yaml")
    native.write_text(native.read_text().replace("Scalar alpha=1", "Scalar alpha=2"))
    odd.build(families="headers")
    assert odd.files() == odd.clean_build(families="headers")
    shutil.rmtree(odd.generated / ".gradmill")
    shutil.rmtree(odd.cache)
    body = odd.generated / "ATen" / "core" / "TensorBody.h"
    for text in ("#pragma once\n// Mine.\n", ""):
        body.write_text(text)
        run = odd.run(families="headers")
        assert (run.status, "TensorBody.h: there is a file that gradmill did not" in run.stderr) == (1, True), text
        assert body.read_text() == text


REFUSED = {
    "options without defaults": (
        "odd(*, ScalarType dtype, Layout layout, Device device, bool pin_memory) -> Tensor",
        "argument 'dtype' cannot be passed on as 'at::ScalarType'",
        "Failed to synthesize the expression",
    ),
    "a view without a copy": (
        "odd_inverse(Tensor(a) self, Tensor base) -> Tensor(a)",
        "'odd_inverse' is a view and has no copy variant",
        "view_copy=None",
    ),
    "a mutable op without variants": (
        "odd(Tensor self, Tensor(a!) other) -> Tensor",
        "'odd' writes to its arguments and has no functional and out variant",
        "Expected composite implicit autograd kernel or non-modifying function",
    ),
    "a method without self": (
        "odd(Tensor other) -> Tensor",
        "a method needs an argument 'self'",
        "Method variant must have self_arg",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_torchgen_refuses_has_a_reason(aten: Project, by_gen: Expected, case: str) -> None:
    schema, reason, theirs = REFUSED[case]
    variants = "  variants: method\n" if "method" in case else ""
    dispatch = "  dispatch:\n    CompositeExplicitAutograd: odd\n"
    aten.append("native_functions.yaml", f"\n- func: {schema}\n{variants}{dispatch}")
    run = aten.run(families=FAMILIES)
    assert f"error: {schema.partition('(')[0]}: " in run.stderr
    assert reason in run.stderr
    with pytest.raises(Refused, match=theirs):
        by_gen()
