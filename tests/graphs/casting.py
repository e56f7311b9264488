"""What autocast on the CPU casts the arguments of operators to, found by calling them."""

from __future__ import annotations

import warnings
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from graphs.every_operator import Arguments, arguments_of, called, in_children, operators, tensors, writes
from pipeline.graphs.exported import autocast

_TRIES, _MIXED = 8, 300
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


def made_of_others() -> list[Any]:
    """The overloads that autocast on the CPU does not know, and that call others."""
    tables = autocast.DEVICES["cpu"]
    known = tables.lower | tables.full | tables.widest
    return [
        each
        for each in operators()
        if torch._C._dispatch_has_kernel_for_dispatch_key(each.name(), "CompositeImplicitAutograd")
        and each.name().removeprefix("aten::") not in known
        and not any(writes(a) or a.name == "dtype" for a in each._schema.arguments)
    ]


def products(every: list[Any], folder: Path) -> dict[str, list[str]]:
    """The operators that take arguments of two dtypes only in a region, as if all of them were of the lower one; each
    without further words."""
    found = in_children(every, folder, _lowered, set[bool])
    return {name.removeprefix("aten::"): [] for name, same in found.items() if same == {True}}


def _lowered(operator: Any) -> set[bool]:
    """Whether the calls that succeed only in a region give what they do with arguments of the lower dtype."""
    found = set()
    for number in range(_MIXED):
        given = arguments_of(operator, number, _FULL)
        if given is None:
            break
        mixed = _typed(given, [_FULL, _LOWER] if number % 2 else [_LOWER, _FULL])
        if _result(operator, mixed) is None and (inside := _result(operator, mixed, region=True)):
            lower = _result(operator, _typed(given, [_LOWER]))
            found.add(lower is not None and all(map(_same, inside, lower)))
    return found


def _result(operator: Any, given: dict[str, Any], *, region: bool = False) -> list[Tensor] | None:
    """The tensors that a call returns, None if it fails."""
    with torch.autocast("cpu", _LOWER, enabled=region), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return tensors(called(operator, given))
        except Exception:
            return None


def _same(one: Tensor, other: Tensor) -> bool:
    return one.dtype == other.dtype and torch.equal(one.nan_to_num(), other.nan_to_num())


def _typed(given: dict[str, Any], dtypes: list[torch.dtype]) -> dict[str, Any]:
    """Arguments whose floating-point tensors have `dtypes` in turn."""
    turns = cycle(dtypes)

    def typed(value: Any) -> Any:
        if isinstance(value, list):
            return [typed(each) for each in value]
        floating = isinstance(value, Tensor) and value.is_floating_point()
        return value.to(next(turns)) if floating else value

    return {name: typed(value) for name, value in given.items()}


def _casts(operator: Any, number: int, dtypes: list[torch.dtype]) -> set[torch.dtype]:
    """The dtypes that arguments are cast to, which have `dtypes` in turn."""
    arguments = Arguments(f"{operator.name()} {number}", statistics=False)
    turns = cycle(dtypes)

    def typed(value: Any) -> Any:
        if isinstance(value, list):
            return [typed(each) for each in value]
        return torch.ones(value.shape).to(next(turns)) if isinstance(value, Tensor) else value

    given = {a.name: typed(arguments.of(a.type, a.name)) for a in operator._schema.arguments}
    with torch.autocast("cpu", _LOWER), torch.no_grad(), warnings.catch_warnings(), _Casts() as casts:
        warnings.simplefilter("ignore")
        with suppress(Exception):  # of any kind: arguments are cast before an operator checks them
            called(operator, given)
    return casts.found
