"""Calls from torch's schemas: for each function and method of a schema's name, arguments that fit the types.

An argument's type decides what it is, and where several things have one type, its name. Few of the values suit what an
operator asks of them; errors of the operators are compared as well. Tensors are of several kinds, one for a call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch

from bindings_in_torch.arguments import generator, integers, make, tensor
from bindings_in_torch.rows import Row
from bindings_in_torch.tables import METHODS, OWNERS

# What tensors are, in a call: in turn one and the other, so that their order is seen.
TENSORS: dict[str, tuple[Any, Any]] = {
    "a matrix": (tensor(3, 3), tensor(3, 3, start=0.9, step=-0.11)),
    "integers": (integers(3, 3), tensor(3, 3, dtype=torch.int64, start=8, step=-1)),
    "images": (tensor(1, 2, 4, 4), tensor(1, 2, 4, 4, start=0.9, step=-0.03)),
    "truths": (tensor(3, dtype=torch.bool, start=0, step=1), tensor(3, dtype=torch.bool, start=2, step=-1)),
    "complex": (
        tensor(2, 2, dtype=torch.complex64, requires_grad=True),
        tensor(2, 2, dtype=torch.complex64, start=0.9, step=-0.11),
    ),
}
_BY_NAME: dict[str, Any] = {
    "device": "cpu",
    "dim": 0,
    "dim0": 0,
    "dim1": 1,
    "dim2": 0,
    "dims": [0],
    "driver": "gelsd",
    "dtype": torch.float64,
    "equation": "ij,jk->ik",
    "filename": __file__,  # a missing one would be created
    "indexing": "ij",
    "layout": torch.strided,
    "memory_format": torch.contiguous_format,
    "mode": "reflect",
    "norm": "ortho",
    "ord": 2,
    "out_dtype": torch.float64,
    "pin_memory": False,
    "reduce": "sum",
    "reduction": 1,
    "rounding_mode": "floor",
    "side": "left",
    "size": [3, 3],
    "UPLO": "L",
}
_BY_TYPE: dict[str, tuple[Any, Any]] = {  # in turn, too
    "int": (1, 0),
    "SymInt": (1, 0),
    "float": (0.5, 0.25),
    "number": (2, 3),
    "str": ("none", "sum"),
    "Device": ("cpu", "cpu"),
    "Generator": (generator(), generator(4)),
    "Storage": (make(lambda: torch.zeros(3).untyped_storage()),) * 2,
    "List[int]": ([1, 1], [2, 1]),
    "List[SymInt]": ([1, 1], [2, 1]),
    "List[float]": ([0.5, 0.5], [0.25, 0.5]),
    "List[bool]": ([True, False], [False, True]),
    "List[number]": ([2, 0.5], [3, 0.5]),
}


class _Argument(NamedTuple):
    name: str
    value: Any
    required: bool
    keyword: bool  # only
    written: bool  # the result


def rows(pairs: Mapping[str, object]) -> Iterator[Row]:
    """The calls of these bindings, by their order in torch's list of schemas."""
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::")
        tables = [table for table in (*OWNERS, METHODS) if f"{table}.{name}" in pairs]
        if name == schema.name or not tables:
            continue
        overload = f" {schema.overload_name}" if schema.overload_name else ""
        for kind in TENSORS:
            arguments = _arguments(schema, kind)
            for table in tables if arguments is not None else ():
                for way, args, kwargs in _ways(table, arguments or []):
                    yield Row(f"{table}.{name}", f"schema{overload}, {kind}, {way}", args, kwargs)


@cache
def _plain(kind: str) -> str:
    """A type's name, without that it may be None."""
    return kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind


def _arguments(schema: Any, kind: str) -> list[_Argument] | None:
    """An argument for each of the schema's; None if there is no value for a type."""
    arguments = []
    turns: Counter[str] = Counter()
    for argument in schema.arguments:
        type_ = _plain(str(argument.real_type))
        default = argument.default_value if argument.has_default_value() else None
        value = _value(argument.name, type_, kind, turns[type_] % 2, default)
        if value is None:
            return None
        turns[type_] += 1
        required = not argument.has_default_value()
        arguments.append(_Argument(argument.name, value, required, argument.kwarg_only, argument.is_out))
    return arguments


def _value(name: str, type_: str, kind: str, turn: int, default: Any) -> Any:
    """What suits a type, a name, a kind of tensors. A truth is not the default."""
    if type_ == "Tensor":
        return TENSORS[kind][turn]
    if type_ in ("List[Tensor]", "List[Optional[Tensor]]"):
        return list(TENSORS[kind]) if turn == 0 else [TENSORS[kind][1]] * 2
    if type_ == "bool" and name != "pin_memory":
        return not default
    if name in _BY_NAME and not (name in ("dim", "size") and type_.startswith("List") is not (name == "size")):
        return _BY_NAME[name]
    if name == "dim" and type_.startswith("List"):
        return [0]
    return _BY_TYPE[type_][turn] if type_ in _BY_TYPE else None


def _ways(table: str, arguments: list[_Argument]) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """How the arguments are given: what is required, everything, everything by its name."""
    written = [argument.value for argument in arguments if argument.written]
    values = [argument for argument in arguments if not argument.written]
    out: dict[str, Any] = {"out": written[0] if len(written) == 1 else tuple(written)} if written else {}
    first: tuple[Any, ...] = ()
    if table == METHODS:
        own = next((argument for argument in values if argument.name == "self"), None)
        if own is None or written:
            return
        first = (own.value,)
        values = [argument for argument in values if argument is not own]
    else:
        values = [a._replace(name="input") if a.name == "self" else a for a in values]
    needed = [argument for argument in values if argument.required]
    yield "what is required", (*first, *_positional(needed)), _keywords(needed) | out
    if len(needed) < len(values):
        yield "everything", (*first, *_positional(values)), _keywords(values) | out
    yield "by names", first, {argument.name: argument.value for argument in values} | out
    if any(argument.name == "pin_memory" for argument in values):
        yield "with a gradient", (*first, *_positional(needed)), _keywords(needed) | out | {"requires_grad": True}


def _positional(arguments: list[_Argument]) -> list[Any]:
    return [argument.value for argument in arguments if not argument.keyword]


def _keywords(arguments: list[_Argument]) -> dict[str, Any]:
    return {argument.name: argument.value for argument in arguments if argument.keyword}
