"""Calls each operator of torch that writes to an argument with another one in the same memory: what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from graphs.every_operator import Arguments, called, in_children, operators, writes

Refused = dict[str, bool]  # by argument, whether any overlap is refused, or only a partial one

_REFUSAL = "refer to a single memory location"
_TRIES = 60
_DTYPES = (torch.float64, torch.int64, torch.bool)
_SIZE = 3


def writing() -> list[Any]:
    """The overloads that write to one argument."""
    return [each for each in operators() if sum(map(writes, each._schema.arguments)) == 1]


def refused(every: list[Any], folder: Path) -> dict[str, list[str]]:
    """The arguments that each operator refuses in the written memory, with `*` in any case; by `add_.Tensor`."""
    found = in_children(every, folder, _refused, dict)
    return {
        name.removeprefix("aten::"): [argument + "*" * whole for argument, whole in sorted(one.items())]
        for name, one in found.items()
        if one
    }


def _refused(operator: Any) -> Refused:
    """The arguments with which each call that succeeds apart is refused in the same memory."""
    outcomes: dict[str, set[tuple[bool, bool]]] = {}
    schema = operator._schema.arguments
    written = next(a.name for a in schema if writes(a))
    for number in range(_TRIES):
        arguments = Arguments(f"{operator.name()} {number}", statistics=False)
        arguments.shape, arguments.dtype = (_SIZE,), _DTYPES[number % len(_DTYPES)]
        try:
            given = {a.name: _flat(arguments.of(a.type, a.name)) for a in schema}
        except KeyError:
            break
        into = given[written]
        if not isinstance(into, Tensor) or _fails(operator, given) is not None:
            continue
        for name, value in given.items():
            for at, read in enumerate(value if isinstance(value, list) else [value]):
                if name != written and isinstance(read, Tensor) and read.dtype == into.dtype:
                    pair = tuple(_fails(operator, _shifted(given, written, name, at, by)) is True for by in (0, 1))
                    outcomes.setdefault(name, set()).add(pair)  # type: ignore[arg-type]
    same = {name: next(iter(pairs)) for name, pairs in outcomes.items() if len(pairs) == 1}
    return {name: whole for name, (whole, partial) in same.items() if partial}


def _flat(value: Any) -> Any:
    """Arguments with each tensor replaced by one of the same size and dtype, whose values may be indices."""
    if isinstance(value, list):
        return [_flat(each) for each in value]
    return torch.arange(_SIZE).to(value.dtype) if isinstance(value, Tensor) else value


def _shifted(given: dict[str, Any], written: str, name: str, at: int, by: int) -> dict[str, Any]:
    """The arguments with one read and the written one in the same memory, `by` elements apart."""
    memory = torch.tensor([0, 0, 1, 2, 0, 0]).to(given[written].dtype)
    read, into = memory[1 : 1 + _SIZE], memory[1 + by : 1 + by + _SIZE]
    value = given[name]
    return {**given, name: [*value[:at], read, *value[at + 1 :]] if isinstance(value, list) else read, written: into}


def _fails(operator: Any, given: dict[str, Any]) -> bool | None:
    """Whether a call fails for the memory of its arguments; None if it succeeds."""
    try:
        with torch.no_grad():
            called(operator, given)
    except Exception as error:
        return _REFUSAL in str(error)
    return None
