"""Autocast regions of a `.pt2` file: the casts that autocast adds to the arguments of calls.

The file has the calls as written, in a nested graph, with the dtypes that tensors had.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from gradmill.extensions.graphs.operator import Op
from gradmill.extensions.graphs.tables import read_table
from gradmill.extensions.graphs.traits import PRODUCTS, REGIONS
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import IMPLICIT

_FULL = "float32"
_ELIGIBLE = ("float32", "float16", "bfloat16")


class Autocast(Struct, frozen=True):
    """What autocast does to the calls of overloads on tensors of a device."""

    default: str  # the dtype of a region without one
    # Of overloads: "lower", their arguments are cast to the dtype of the region; "full", to float32; "widest", to the
    # widest of their dtypes; "computes", they compute in float32 if their argument `dtype` is None.
    kinds: dict[str, str]


def _kinds(table: str) -> dict[str, str]:
    return {overload: kind for overload, (kind,) in read_table(table).items()}


_CPU = Autocast("bfloat16", _kinds("autocast_cpu"))
_CUDA = Autocast("float16", _kinds("autocast_cuda"))
_FIRST = "cpu"  # whose tables have not changed
DEVICES = {
    _FIRST: _CPU,
    **dict.fromkeys(("cuda", "xpu", "mtia"), _CUDA),
    "maia": replace(_CUDA, default="bfloat16"),
}


def cast_to(op: Op, device: str, dtypes: Sequence[str], result: str, lower: str, release: Release) -> str | None:
    """The dtype that autocast casts floating-point arguments of a call to; None for a call that it leaves alone.

    `device`: one of `DEVICES`, that of the region. `dtypes`: of its tensor arguments. `result`: of its first result.
    `lower`: the dtype of the region. SpecError if the result has a lower dtype for no known reason.
    """
    name, autocast = op.schema.name, DEVICES[device]
    floating = {dtype for dtype in dtypes if dtype in _ELIGIBLE}
    if name.inplace or not floating:
        return None
    kind = autocast.kinds.get(op.name)
    if kind == "lower":
        return lower
    if kind == "full" or (device != _FIRST and op.name.removeprefix("aten::") in release.autocast_full):
        return _FULL
    if kind == "widest":
        return _FULL if _FULL in floating else lower
    return None if kind == "computes" else _inside(op, floating, result, lower)


def is_called_in_region(op: Op, device: str) -> bool:
    """Whether a call is made in a region of autocast, which casts the arguments of its parts at run time."""
    return op.name in REGIONS and op.name not in DEVICES[device].kinds


def computes_in(op: Op, device: str, dtypes: Sequence[str]) -> str | None:
    """The dtype that autocast gives as the argument `dtype` of a call without one; None if it gives none.

    `dtypes`: of its tensor arguments, "" for an unknown one.
    """
    computes = DEVICES[device].kinds.get(op.name) == "computes"
    return _FULL if computes and dtypes[:1] and dtypes[0] in _ELIGIBLE else None


def _inside(op: Op, floating: set[str], result: str, lower: str) -> str | None:
    """The dtype for an operator that is made of others, some of which autocast knows: its result has it."""
    if any(a.name == "dtype" for a in op.schema.arguments):
        return None
    if IMPLICIT not in op.function.dispatch:
        if floating == {_FULL} and result in _ELIGIBLE[1:]:  # as cuDNN's RNN has its own kernel for autocast
            raise SpecError(f"how autocast casts arguments of '{op.name}' is not known", "call it with autocast off")
        return None
    if op.name in PRODUCTS:
        return lower if result == lower else None
    return result if len(floating) == 1 and result in {lower, _FULL} - floating else None


def is_cast(dtype: str, device: str, of: str, to: str) -> bool:
    """Whether autocast for the device `of` casts a tensor of a dtype, on a device."""
    return device.partition(":")[0] == of and dtype in _ELIGIBLE and dtype != to
