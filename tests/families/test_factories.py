"""The wrappers of variable_factories.h: which functions have them, their text, and equality with torchgen's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from project import Project

from pipeline.families.factories.files import FACTORIES
from pipeline.families.family import DEFINITION, INCLUDE, Layout, generated_comment
from pipeline.families.template import Template
from pipeline.grammar.schema import SchemaParser
from pipeline.model.native import NativeFunction
from pipeline.model.units import Unit
from pipeline.problems.problem import SpecError
from pipeline.releases import Release, resolve
from pipeline.rules.native.heads import head_of

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
ZEROS = f"zeros(SymInt[] size, *, {OPTIONS}) -> Tensor"
ODD = Path(__file__).parent / "odd_factories.yaml"


def function(func: str, version: str = "2.13", **fields: Any) -> NativeFunction:
    """A function of this schema."""
    return NativeFunction(SchemaParser(frozenset(resolve(version).base_types)).parse(func), **fields)


def wrappers(func: str, version: str = "2.13", **fields: Any) -> str:
    release = resolve(version)
    return FACTORIES.render(FACTORIES.plan(function(func, version, **fields), release), release)[DEFINITION]


def parameters(func: str, version: str = "2.13", **fields: Any) -> list[str]:
    """The text between the parentheses of each wrapper."""
    lines = wrappers(func, version, **fields).splitlines()
    return [line.partition("(")[2].removesuffix(") {") for line in lines if line.startswith("inline")]


def header(functions: Sequence[NativeFunction], template: str, release: Release) -> str:
    """The file, assembled from the pieces of its functions."""
    plans = {
        str(f.func): FACTORIES.plan(f, release)
        for f in functions
        if FACTORIES.selects(head_of(f, layered=False), release)
    }
    (file,) = FACTORIES.files([Unit(name, name, name, name, "native", name) for name in plans], Layout(), release)
    assert file.units == tuple(plans)
    holes = {hole: [FACTORIES.render(plans[unit], release)[piece] for unit in file.units]
             for hole, piece in file.slots.items()}  # fmt: skip
    comment = generated_comment("packaged/autograd/templates", file.template)
    return Template(template, trim=release.trims_lines).fill({"generated_comment": comment, **holes})


def test_options_become_one_argument_with_requires_grad() -> None:
    assert wrappers(ZEROS) == (
        "inline at::Tensor zeros(at::IntArrayRef size, at::TensorOptions options = {}) {\n"
        "  at::AutoDispatchBelowADInplaceOrView guard;\n"
        "  return autograd::make_variable(at::zeros(size, at::TensorOptions(options).requires_grad(::std::nullopt)),"
        " /*requires_grad=*/options.requires_grad());\n"
        "}\n"
        "inline at::Tensor zeros_symint(c10::SymIntArrayRef size, at::TensorOptions options = {}) {\n"
        "  at::AutoDispatchBelowADInplaceOrView guard;\n"
        "  return autograd::make_variable(at::zeros_symint(size,"
        " at::TensorOptions(options).requires_grad(::std::nullopt)),"
        " /*requires_grad=*/options.requires_grad());\n"
        "}\n"
    )


def test_a_like_function_without_options_requires_no_gradient() -> None:
    assert wrappers("randn_like(Tensor self, float p=0.5) -> Tensor") == (
        "inline at::Tensor randn_like(const at::Tensor & self, double p = 0.5) {\n"
        "  at::AutoDispatchBelowADInplaceOrView guard;\n"
        "  return autograd::make_variable(at::randn_like(self, p), /*requires_grad=*/false);\n"
        "}\n"
    )


def test_the_first_release_prints_c10_names() -> None:
    assert "at::TensorOptions(options).requires_grad(c10::nullopt)" in wrappers(ZEROS, "2.4")
    func = "same_like(Tensor self, MemoryFormat memory_format=contiguous_format) -> Tensor"
    assert "memory_format = MemoryFormat::Contiguous" in parameters(func, "2.4")[0]
    assert "memory_format = c10::MemoryFormat::Contiguous" in parameters(func, "2.5")[0]


@pytest.mark.parametrize(
    ("func", "variant"),
    [
        ("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", "function"),
        ("zeros_like.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "function"),
        ("same_like_(Tensor(a!) self) -> Tensor(a!)", "function"),
        ("same_like(Tensor self) -> Tensor", "method"),
        (f"new_zeros(Tensor self, SymInt[] size, *, {OPTIONS}) -> Tensor", "method"),
    ],
)
def test_these_have_no_wrapper(func: str, variant: str) -> None:
    assert not FACTORIES.selects(head_of(function(func, variants=(variant,)), layered=False), resolve("2.13"))


@pytest.mark.parametrize(
    ("argument", "declared"),
    [
        ("int[2] x=1", "at::IntArrayRef x = 1"),
        ("int[] x=[1,2]", "at::IntArrayRef x = {1,2}"),
        ("int[1]? x=None", "at::OptionalIntArrayRef x = ::std::nullopt"),
        ("Tensor? x=None", "const ::std::optional<at::Tensor> & x = {}"),
        ("bool x=True", "bool x = true"),
        ("int x=Mean", "int64_t x = at::Reduction::Mean"),
        ("str x='a\"b'", 'c10::string_view x = "a\\"b"'),
        ("str x='a\\'b\\n'", 'c10::string_view x = "a\'b\\n"'),
        ("str x='\\'", 'c10::string_view x = "\'"'),
        ("str? x='none'", '::std::optional<c10::string_view> x = "none"'),
        ("ScalarType x=long", "at::ScalarType x = at::kLong"),
        ("Scalar x", "const at::Scalar & x"),
    ],
)
def test_defaults_are_cpp_expressions(argument: str, declared: str) -> None:
    assert parameters(f"same_like(Tensor self, {argument}) -> Tensor") == [f"const at::Tensor & self, {declared}"]


def test_a_symint_list_has_a_different_default_in_each_overload() -> None:
    func = "same_like(Tensor self, SymInt[2] size=1) -> Tensor"
    plain, symint = (declared.partition(", ")[2] for declared in parameters(func))
    assert plain == "at::IntArrayRef size = 1"
    assert symint == "c10::SymIntArrayRef size = c10::SymInt(1)"


@pytest.mark.parametrize(
    ("options", "declared"),
    [
        (OPTIONS, "at::TensorOptions options = {}"),
        (OPTIONS.replace("dtype=None", "dtype=long"), "at::TensorOptions options = at::kLong"),
        (OPTIONS.replace("pin_memory=None", "pin_memory=False"), "at::TensorOptions options"),
        (OPTIONS.replace("=None", ""), "at::TensorOptions options"),
    ],
)
def test_options_have_a_default_when_all_are_none_or_the_dtype_is_long(options: str, declared: str) -> None:
    assert parameters(f"make(int n, *, {options}) -> Tensor") == [f"int64_t n, {declared}"]


def test_cpp_no_default_args_have_none() -> None:
    func = f"make(int n=1, int m=2, *, {OPTIONS}) -> Tensor"
    assert parameters(func, cpp_no_default_args=("n",)) == ["int64_t n, int64_t m = 2, at::TensorOptions options = {}"]


def test_a_scalar_default_of_an_unsized_list_is_an_error_in_the_plain_overload() -> None:
    with pytest.raises(SpecError, match="'size' is a list but its default '1' is not"):
        wrappers("same_like(Tensor self, SymInt[] size=1) -> Tensor")


def test_the_file_keeps_the_order_and_the_includes_of_all_overloads() -> None:
    make = [f"make.{overload}(int n, *, {OPTIONS}) -> Tensor" for overload in ("b", "a")]
    schemas = [make[0], "sin(Tensor self) -> Tensor", ZEROS, make[1]]
    functions = [function(schema) for schema in schemas]
    text = header(functions, "$ops_headers\n", resolve("2.13"))
    assert text == "".join(f"#include <ATen/ops/{name}.h>\n" for name in ("make", "zeros", "make"))
    assert {piece for file in FACTORIES.files([], Layout(), resolve("2.13")) for piece in file.slots.values()} == {
        INCLUDE,
        DEFINITION,
    }


@pytest.mark.slow
def test_functions_of_torch_and_odd_ones_equal_torchgens(torch_project: Project, tmp_path: Path) -> None:
    """One run of torchgen for both: its own functions, and odd ones that it does not have."""
    torch_project.append("native_functions.yaml", ODD.read_text())
    torch_project.build()
    name = "variable_factories.h"
    assert torch_project.files()[name] == torch_project.by_torchgen(tmp_path / "out")[name]
