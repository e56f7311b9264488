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
    """One computation: its arguments and the type of its result; "" if that follows from the arguments' types."""

    arguments: tuple[tuple[str, str], ...]  # name, type; "number" is int, float or bool
    result: str
    compute: Callable[..., Any] | None = None  # folds constants


def _of_two(result: str, compute: Callable[..., Any]) -> Scalar:
    return Scalar((("a", "number"), ("b", "number")), result, compute)


def _of_one(result: str, compute: Callable[..., Any]) -> Scalar:
    return Scalar((("a", "number"),), result, compute)


def _of_tensor(result: str, *more: tuple[str, str]) -> Scalar:
    return Scalar((("self", "Tensor"), *more), result)


SCALARS: dict[str, Scalar] = {
    "add": _of_two("", operator.add),
    "sub": _of_two("", operator.sub),
    "mul": _of_two("", operator.mul),
    "truediv": _of_two("float", operator.truediv),
    "floordiv": _of_two("", operator.floordiv),
    "mod": _of_two("", operator.mod),
    "pow": _of_two("", operator.pow),
    "min": _of_two("", min),
    "max": _of_two("", max),
    "neg": _of_one("", operator.neg),
    "abs": _of_one("", abs),
    "eq": _of_two("bool", operator.eq),
    "ne": _of_two("bool", operator.ne),
    "lt": _of_two("bool", operator.lt),
    "le": _of_two("bool", operator.le),
    "gt": _of_two("bool", operator.gt),
    "ge": _of_two("bool", operator.ge),
    "int": _of_one("int", int),
    "float": _of_one("float", float),
    "sqrt": _of_one("float", math.sqrt),
    "exp": _of_one("float", math.exp),
    "log": _of_one("float", math.log),
    "size": _of_tensor("int", ("dim", "int")),
    "stride": _of_tensor("int", ("dim", "int")),
    "wrapped": Scalar((("index", "int"), ("size", "int")), "int"),
    "sizes": _of_tensor("int[]"),
    "strides": _of_tensor("int[]"),
    "numel": _of_tensor("int"),
    "dim": _of_tensor("int"),
    "storage_offset": _of_tensor("int"),
    "dtype": _of_tensor("ScalarType"),
    "device": _of_tensor("Device"),
    "truth": _of_tensor("bool"),
    "length": Scalar((("list", "list"),), "int"),
    "selects": Scalar((("list", "Tensor?[]"),), "bool"),
    "gap": Scalar((("self", "Tensor"), ("list", "Tensor?[]"), ("alone", "bool")), "gap"),
    # guards: no results
    "expect": Scalar((("a", "number"), ("b", "number"), ("what", "str")), "int"),
    "unpacked": Scalar((("list", "list"), ("count", "int")), "int"),
    "guard": Scalar((("a", "number"), ("what", "str")), "int"),
    "within": Scalar((("a", "number"), ("least", "number"), ("most", "number"), ("what", "str")), "int"),
    "slice": Scalar((("list", "int[]"), ("start", "int"), ("end", "int")), "int[]"),  # as in Python, out of bounds too
    "concat": Scalar((("lists", "int[][]"),), "int[]"),
}


SELECTS, CHECK_SUBSCRIPT = "python::selects", "python::check_subscript"
GUARDS = frozenset((*(f"python::{name}" for name in ("expect", "within", "unpacked", "guard")), CHECK_SUBSCRIPT))


def result_type(name: str, types: tuple[str, ...]) -> str:
    """The type of the result of `python::NAME` on arguments of these types."""
    result = SCALARS[name].result
    return result or ("float" if "float" in types else "int")
