"""Computations of graphs on numbers and shapes: `python::…`, calls that are not operators.

Results and errors are Python's, but a whole number that needs more than 64 bits is an error. Constants are folded; the
generated code computes everything else.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

Number = int | float | bool

# The type of a result, by the types of the numbers. "Scalar" is that of a number whose type is known at run time only.
Typed = Callable[[Sequence[str]], str]


class Scalar(Struct, frozen=True):
    """One computation."""

    arguments: dict[str, str]  # types by name; "number" is int, float, bool or Scalar, "whole" all but float
    result: str | Typed
    cpp: str  # over the arguments, and {to}, which converts an at::Scalar to the type of the result
    compute: Callable[..., Any] | None = None  # folds constants


def _sum(types: Sequence[str]) -> str:
    return "float" if "float" in types else "Scalar" if "Scalar" in types else "int"


def _bits(types: Sequence[str]) -> str:
    return "bool" if set(types) == {"bool"} else "Scalar" if "int" not in types else "int"


def _power(types: Sequence[str]) -> str:
    """Of a whole number to a power that may be negative: it may be an int or a float."""
    return "float" if "float" in types else "Scalar"


def _either(types: Sequence[str]) -> str:
    return types[0] if len(set(types)) == 1 else "Scalar"


def _same(types: Sequence[str]) -> str:
    """Of what is an int unless the first number is a float."""
    return types[0].replace("bool", "int")


def _of(result: str | Typed, cpp: str, compute: Callable[..., Any] | None = None, /, **arguments: str) -> Scalar:
    return Scalar(arguments, result, cpp, compute)


def _of_two(result: str | Typed, compute: Callable[..., Any], cpp: str, type_: str = "number") -> Scalar:
    return _of(result, cpp, compute, a=type_, b=type_)


def _of_one(result: str | Typed, compute: Callable[..., Any], cpp: str, type_: str = "number") -> Scalar:
    return _of(result, cpp, compute, a=type_)


def _of_tensor(result: str, cpp: str, **more: str) -> Scalar:
    return _of(result, cpp, self="Tensor", **more)


_ROUNDED: dict[str, tuple[Callable[..., int], str]] = {
    "int": (int, "trunc"),
    "trunc": (math.trunc, "trunc"),
    "floor": (math.floor, "floor"),
    "ceil": (math.ceil, "ceil"),
    "round": (round, "nearbyint"),
}
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# Functions of `math` that C has by the same name, and that take and return a float.
FUNCTIONS = frozenset(
    "sqrt cbrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh fabs".split()
)

SCALARS: dict[str, Scalar] = {
    "add": _of_two(_sum, operator.add, "graph::add({a}, {b}){to}"),
    "sub": _of_two(_sum, operator.sub, "graph::sub({a}, {b}){to}"),
    "mul": _of_two(_sum, operator.mul, "graph::mul({a}, {b}){to}"),
    "truediv": _of_two("float", operator.truediv, "graph::truediv({a}, {b})"),
    "floordiv": _of_two(_sum, operator.floordiv, "graph::floordiv({a}, {b}){to}"),
    "mod": _of_two(_sum, operator.mod, "graph::mod({a}, {b}){to}"),
    "pow": _of_two(_power, operator.pow, "graph::power({a}, {b}){to}"),
    "min": _of_two(_either, min, "graph::min({a}, {b}){to}"),
    "max": _of_two(_either, max, "graph::max({a}, {b}){to}"),
    "and": _of_two(_bits, operator.and_, "graph::bits({a}, {b}, std::bit_and<>()){to}", "whole"),
    "or": _of_two(_bits, operator.or_, "graph::bits({a}, {b}, std::bit_or<>()){to}", "whole"),
    "xor": _of_two(_bits, operator.xor, "graph::bits({a}, {b}, std::bit_xor<>()){to}", "whole"),
    "lshift": _of_two("int", operator.lshift, "graph::lshift({a}, {b})", "whole"),
    "rshift": _of_two("int", operator.rshift, "graph::rshift({a}, {b})", "whole"),
    "invert": _of_one("int", lambda a: a ^ -1, "~graph::integer({a})", "whole"),
    "neg": _of_one(_sum, operator.neg, "graph::neg({a}){to}"),
    "pos": _of_one(_sum, operator.pos, "graph::mul({a}, true){to}"),
    "abs": _of_one(_sum, abs, "graph::abs({a}){to}"),
    "not": _of_one("bool", operator.not_, "graph::compare({a}, false) == 0"),
    "bool": _of_one("bool", bool, "graph::compare({a}, false) != 0"),
    **{
        name: _of_two("bool", getattr(operator, name), f"graph::compare({{a}}, {{b}}) {sign} 0")
        for name, sign in _COMPARED.items()
    },
    **{name: _of_one("int", of, f"graph::rounded({{a}}, ::{how})") for name, (of, how) in _ROUNDED.items()},
    "round_digits": _of(_same, "graph::round_digits({a}, {b}){to}", round, a="number", b="whole"),
    "float": _of_one("float", float, "graph::real({a})"),
    **{
        name: _of_one("float", getattr(math, name), f'graph::math("{name}", ::{name}, {{a}})')
        for name in sorted(FUNCTIONS)
    },
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
    "reduction": _of("int", "graph::reduction({text})", text="str"),
    "batch_reduction": _of("int", "graph::batch_reduction({text})", text="str"),
    "batch_divisor": _of_tensor("int", "graph::batch_divisor({self}, {text})", text="str"),
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


def result_type(name: str, types: Sequence[str]) -> str:
    """The type of the result of `python::NAME` on arguments of these types."""
    result = SCALARS[name].result
    return result if isinstance(result, str) else result(types)
