"""Computations of graphs on numbers and shapes: `python::…`, calls that are not operators.

Their semantics are Python's: `floordiv` and `mod` round towards minus infinity, `truediv` of integers is a float.
Constants are folded; the generated code computes everything else.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from msgspec import Struct

Number = int | float | bool


class Scalar(Struct, frozen=True):
    """One computation. Its result is of type "" if that follows from the arguments' types."""

    arguments: dict[str, str]  # types by name; "number" is int, float or bool
    result: str
    cpp: str  # over the arguments, and the {type} of the result
    compute: Callable[..., Any] | None = None  # folds constants


def _of(result: str, cpp: str, compute: Callable[..., Any] | None = None, /, **arguments: str) -> Scalar:
    return Scalar(arguments, result, cpp, compute)


def _of_two(result: str, compute: Callable[..., Any], cpp: str) -> Scalar:
    return _of(result, cpp, compute, a="number", b="number")


def _of_one(result: str, compute: Callable[..., Any], cpp: str) -> Scalar:
    return _of(result, cpp, compute, a="number")


def _of_tensor(result: str, cpp: str, **more: str) -> Scalar:
    return _of(result, cpp, self="Tensor", **more)


SCALARS: dict[str, Scalar] = {
    "add": _of_two("", operator.add, "{a} + {b}"),
    "sub": _of_two("", operator.sub, "{a} - {b}"),
    "mul": _of_two("", operator.mul, "{a} * {b}"),
    "truediv": _of_two("float", operator.truediv, "graph::truediv({a}, {b})"),
    "floordiv": _of_two("", operator.floordiv, "graph::floordiv({type}({a}), {type}({b}))"),
    "mod": _of_two("", operator.mod, "graph::mod({type}({a}), {type}({b}))"),
    "pow": _of_two("", operator.pow, "graph::power({type}({a}), {type}({b}))"),
    "min": _of_two("", min, "std::min<{type}>({a}, {b})"),
    "max": _of_two("", max, "std::max<{type}>({a}, {b})"),
    "neg": _of_one("", operator.neg, "-({a})"),
    "abs": _of_one("", abs, "std::abs({a})"),
    "eq": _of_two("bool", operator.eq, "{a} == {b}"),
    "ne": _of_two("bool", operator.ne, "{a} != {b}"),
    "lt": _of_two("bool", operator.lt, "{a} < {b}"),
    "le": _of_two("bool", operator.le, "{a} <= {b}"),
    "gt": _of_two("bool", operator.gt, "{a} > {b}"),
    "ge": _of_two("bool", operator.ge, "{a} >= {b}"),
    "int": _of_one("int", int, "static_cast<int64_t>({a})"),
    "float": _of_one("float", float, "static_cast<double>({a})"),
    "sqrt": _of_one("float", math.sqrt, "std::sqrt(static_cast<double>({a}))"),
    "exp": _of_one("float", math.exp, "std::exp(static_cast<double>({a}))"),
    "log": _of_one("float", math.log, "std::log(static_cast<double>({a}))"),
    "size": _of_tensor("int", "{self}.size({dim})", dim="int"),
    "stride": _of_tensor("int", "{self}.stride({dim})", dim="int"),
    "wrapped": _of("int", "graph::wrapped({index}, {size})", index="int", size="int"),
    "sizes": _of_tensor("int[]", "{self}.sizes().vec()"),
    "strides": _of_tensor("int[]", "{self}.strides().vec()"),
    "numel": _of_tensor("int", "{self}.numel()"),
    "dim": _of_tensor("int", "{self}.dim()"),
    "storage_offset": _of_tensor("int", "{self}.storage_offset()"),
    "dtype": _of_tensor("ScalarType", "{self}.scalar_type()"),
    "device": _of_tensor("Device", "{self}.device()"),
    "truth": _of_tensor("bool", "{self}.item<bool>()"),
    "length": _of("int", "static_cast<int64_t>({list}.size())", list="list"),
    "selects": _of("bool", "graph::selects({list})", list="Tensor?[]"),
    "gap": _of_tensor("gap", "graph::gap({self}, {list})", list="Tensor?[]"),
    "beyond": _of("int", "graph::beyond({dim}, {list})", dim="int", list="Tensor?[]"),
    # as in Python, out of bounds too
    "slice": _of("int[]", "graph::slice({list}, {start}, {end})", list="int[]", start="int", end="int"),
    "concat": _of("int[]", "graph::concat({{{lists}}})", lists="int[][]"),
    # guards: no results
    "check_subscript": _of("", "graph::selects({list})", list="Tensor?[]"),
    "expect": _of("int", "graph::expect({a}, {b}, {what})", a="number", b="number", what="str"),
    "unpacked": _of("int", "graph::check_unpacked({list}, {count})", list="list", count="int"),
    "guard": _of("int", "graph::guard({a}, {what})", a="number", what="str"),
    "within": _of(
        "int", "graph::within({a}, {least}, {most}, {what})", a="number", least="number", most="number", what="str"
    ),
    # steps that functionalization adds
    "operand": _of("Tensor", "graph::operand({a})", a="number"),
    "metadata": _of("Tensor", "{a}", a="Tensor"),
    "same_layout": _of("bool", "{a}.sizes() == {b}.sizes() && {a}.strides() == {b}.strides()", a="Tensor", b="Tensor"),
    "same_memory": _of("bool", "graph::shares_memory({a}, {b})", a="Tensor", b="Tensor"),
}


SELECTS, CHECK_SUBSCRIPT = "python::selects", "python::check_subscript"
GUARDS = frozenset((*(f"python::{name}" for name in ("expect", "within", "unpacked", "guard")), CHECK_SUBSCRIPT))


def result_type(name: str, types: tuple[str, ...]) -> str:
    """The type of the result of `python::NAME` on arguments of these types."""
    result = SCALARS[name].result
    return result or ("float" if "float" in types else "int")
