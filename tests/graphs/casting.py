"""What autocast on the CPU casts the arguments of an operator to, found by calling it."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from graphs.every_operator import Arguments, called

_TRIES = 8
_LOWER, _FULL = torch.bfloat16, torch.float32


class _Called(Exception):
    """The operator itself is called: its arguments are cast by now."""


class _Casts(TorchDispatchMode):
    """Collects the dtypes that tensors are cast to before any other call."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[torch.dtype] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not torch.ops.aten._to_copy.default:
            raise _Called
        self.found.add(kwargs["dtype"])
        return func(*args, **kwargs)


def table_of(name: str) -> str:
    """The table of `exported/autocast.py` that an overload belongs to, by the casts; "" if it casts nothing."""
    base, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, base), overload or "default")
    for number in range(_TRIES):
        if _LOWER in _casts(operator, number, [_FULL]):
            return "lower"
        if _FULL in _casts(operator, number, [_LOWER]):
            return "full"
        if _FULL in _casts(operator, number, [_LOWER, _FULL]):
            return "widest"
    return ""


def _casts(operator: Any, number: int, dtypes: list[torch.dtype]) -> set[torch.dtype]:
    """The dtypes that arguments are cast to, which have `dtypes` in turn."""
    arguments = Arguments(f"{operator.name()} {number}", statistics=False)
    schema, count = operator._schema.arguments, 0

    def typed(value: Any) -> Any:
        nonlocal count
        if isinstance(value, list):
            return [typed(each) for each in value]
        if not isinstance(value, Tensor):
            return value
        count += 1
        return torch.ones(value.shape).to(dtypes[(count - 1) % len(dtypes)])

    given = {a.name: typed(arguments.of(a.type, a.name)) for a in schema}
    with torch.autocast("cpu", _LOWER), torch.no_grad(), warnings.catch_warnings(), _Casts() as casts:
        warnings.simplefilter("ignore")
        with suppress(Exception):  # of any kind: arguments are cast before an operator checks them
            called(operator, given)
    return casts.found
