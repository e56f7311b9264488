"""The classes of ViewFuncs: names, members, getters and setters of their state."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.cpp.view_funcs import view_func, view_func_macro
from pipeline.families.family import DECLARATION, DEFINITION
from pipeline.families.view_funcs.files import VIEW_FUNCS
from pipeline.grammar.schema import SchemaParser
from pipeline.model.native import NativeFunction
from pipeline.problems.problem import SpecError
from pipeline.releases import resolve
from pipeline.rules.native.heads import head_of

EXPAND = "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)"


def function(func: str, version: str = "2.13", **fields: Any) -> NativeFunction:
    return NativeFunction(SchemaParser(frozenset(resolve(version).base_types)).parse(func), **fields)


def pieces(func: str, version: str = "2.13") -> dict[str, str]:
    release = resolve(version)
    return VIEW_FUNCS.render(VIEW_FUNCS.plan(function(func, version), release), release)


def body(func: str, member: str) -> list[str]:
    """The lines of a member function."""
    _, separator, rest = pieces(func)[DEFINITION].partition(f"::{member}(")
    assert separator
    return [line.strip() for line in rest.partition("{\n")[2].partition("\n}\n")[0].splitlines()]


@pytest.mark.parametrize(
    ("name", "expected", "macro"),
    [
        ("select.int", "SelectIntViewFunc", "SELECT_INT_VIEW_FUNC_AVAILABLE"),
        ("_reshape_alias", "_ReshapeAliasViewFunc", "_RESHAPE_ALIAS_VIEW_FUNC_AVAILABLE"),
        ("view_as_2d.Upper", "ViewAs2DUpperViewFunc", "VIEW_AS_2D_UPPER_VIEW_FUNC_AVAILABLE"),
    ],
)
def test_classes_are_named_after_the_overload(name: str, expected: str, macro: str) -> None:
    assert (view_func(name), view_func_macro(name)) == (expected, macro)


@pytest.mark.parametrize(
    ("func", "selected"),
    [
        (EXPAND, True),
        ("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", True),
        ("t_(Tensor(a!) self) -> Tensor(a!)", False),
        ("detach(Tensor(a) self) -> Tensor(a)", False),
        ("exp(Tensor self) -> Tensor", False),
    ],
)
def test_out_of_place_views_have_a_class(func: str, selected: bool) -> None:
    assert VIEW_FUNCS.selects(head_of(function(func), layered=False), resolve("2.13")) is selected


def test_references_are_saved_as_copies() -> None:
    rendered = pieces(EXPAND)[DECLARATION]
    assert (
        "  ExpandViewFunc(c10::SymIntArrayRef size, bool implicit) : size(size.vec()), implicit(implicit)\n  {}\n"
        in rendered
    )
    assert "private:\n  ::std::vector<c10::SymInt> size;\n  bool implicit;\n};\n" in rendered


def test_the_view_function_is_called_on_another_base() -> None:
    assert body(EXPAND, "operator()") == ["return at::_ops::expand::call(input_base, size, implicit);"]


def test_one_of_several_views_is_replayed() -> None:
    split = "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]"
    assert "SplitTensorViewFunc(c10::SymInt split_size, int64_t dim, int64_t view_idx) :" in pieces(split)[DECLARATION]
    assert body(split, "operator()") == ["return at::_ops::split_Tensor::call(input_base, split_size, dim)[view_idx];"]
    assert "std::make_unique<SplitTensorViewFunc>(split_size, dim, view_idx);" in pieces(split)[DEFINITION]


def test_a_view_without_arguments_saves_nothing() -> None:
    rendered = pieces("t(Tensor(a) self) -> Tensor(a)")
    assert "  TViewFunc()\n  {}\n" in rendered[DECLARATION]
    assert "return at::_ops::t::call(input_base);" in rendered[DEFINITION]
    assert body("t(Tensor(a) self) -> Tensor(a)", "get_tensors") == [
        "::std::vector<at::Tensor> tensors;",
        "return tensors;",
    ]


def test_symbolic_integers_are_read_and_set_in_order() -> None:
    func = "as_strided(Tensor(a) self, SymInt[] size, SymInt? offset=None, SymInt last=0) -> Tensor(a)"
    assert body(func, "num_symints") == ["return static_cast<size_t>(size.size() + (offset.has_value() ? 1 : 0) + 1);"]
    assert body(func, "get_symints") == [
        "::std::vector<c10::SymInt> symints;",
        "symints.reserve(size.size() + (offset.has_value() ? 1 : 0) + 1);",
        "symints.insert(symints.end(), size.begin(), size.end());",
        "if(offset.has_value()) symints.insert(symints.end(), *(offset));",
        "symints.push_back(last);",
        "return symints;",
    ]
    assert body(func, "set_symints")[1:] == [
        "auto i = 0;",
        "std::copy(symints.begin() + i, symints.begin() + i + size.size(), size.begin());",
        "i += size.size();",
        "if(offset.has_value()) offset = symints[i];",
        "i += (offset.has_value() ? 1 : 0);",
        "last = symints[i];",
    ]


def test_tensors_are_state_too() -> None:
    func = "values(Tensor(a) self, Tensor other, Tensor? more) -> Tensor(a)"
    assert body(func, "num_tensors") == ["return static_cast<size_t>(1 + (more.has_value() ? 1 : 0));"]
    assert "  at::Tensor other;\n  ::std::optional<at::Tensor> more;\n" in pieces(func)[DECLARATION]


@pytest.mark.parametrize(
    ("version", "body", "none"),
    [("2.4", "{};", "c10::nullopt"), ("2.5", "{};", "::std::nullopt"), ("2.6", "{}", "::std::nullopt")],
)
def test_the_first_releases_print_an_additional_semicolon(version: str, body: str, none: str) -> None:
    rendered = pieces(EXPAND, version)[DECLARATION]
    assert f"implicit(implicit)\n  {body}\n" in rendered
    assert f"std::optional<std::vector<at::Tensor>> = {none}) const override;" in rendered


@pytest.mark.parametrize(
    ("func", "problem"),
    [
        (
            "values(Tensor(a) self, Tensor[] x) -> Tensor(a)",
            "takes 'Tensor\\[\\] x', which cannot be saved to replay the view",
        ),
        (
            "values(Tensor(a) self, Tensor(b!) x) -> Tensor(a)",
            "takes 'Tensor\\(b!\\) x', which cannot be saved to replay the view",
        ),
        ("values(Tensor(a) self) -> (Tensor(a), int)", "returns 2 values"),
        ("values(int x, Tensor(a) self) -> Tensor(a)", "'self' is not the first argument"),
        ("values(Tensor(a) self, int[] x=1) -> Tensor(a)", "'x' is a list but its default '1' is not"),
    ],
)
def test_these_views_have_no_class(func: str, problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        pieces(func)
