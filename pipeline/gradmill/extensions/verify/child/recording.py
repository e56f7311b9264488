"""Calls of overloads that a Python function makes, recorded below autograd."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gradmill.extensions.verify.child.calls import Values, mapped, tensors

SMALL, LARGEST = 400, 10_000  # elements of all tensors of a call: larger ones are kept where there are no small ones
OWN, INNER, LARGE = 24, 24, 2  # calls kept of an overload: of functions that have its name, of others, large ones

_Calls = list[tuple[str, Values]]
_Kinds = tuple[_Calls, _Calls, _Calls]  # of functions that have the overload's name, of others, large ones
_PLAIN = (Tensor, bool, int, float, complex, str, NoneType, torch.dtype, torch.device)  # what torch.save keeps
_TAKEN = (torch.float64, torch.complex128)


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps small calls that differ in what their arguments are: shapes and dtypes of tensors, other values."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.source = ""
        self.names: frozenset[str] = frozenset()  # those of the function that is being called
        self._calls = defaultdict[str, _Kinds](lambda: ([], [], []))  # of each overload
        self._seen: set[tuple[Any, ...]] = set()
        self._counts: Counter[tuple[Any, ...]] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self._keep(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def found(self) -> dict[str, list[tuple[str, Values]]]:
        """The calls of each overload, those of functions with its name first."""
        return {name: own + inner or large for name, (own, inner, large) in sorted(self._calls.items())}

    def _keep(self, overload: Any, args: Sequence[Any], keyword: Mapping[str, Any]) -> None:
        values = complete(overload._schema, args, keyword)
        size = sum(each.numel() for each in tensors(values))
        if size > LARGEST or not can_be_kept(values):
            return
        name = overload.name()
        own = is_part_of(name, self.names)
        of_functions, of_others, large = self._calls[name]
        if size > SMALL:
            if own and len(large) < LARGE:
                large.append((self.source, mapped(torch.clone, values)))
            return
        key = (name, *map(signature, values))
        modes = tuple(each for each in values if isinstance(each, str))
        group = (name, own, any(each.is_complex() for each in tensors(values)), modes)
        if key not in self._seen and self._counts[group] < (OWN if own else INNER):
            self._seen.add(key)
            self._counts[group] += 1
            (of_functions if own else of_others).append((self.source, mapped(torch.clone, values)))


def complete(schema: torch._C.FunctionSchema, args: Sequence[Any], keyword: Mapping[str, Any]) -> Values:
    """One value for each argument of a schema: torch leaves out defaults."""
    given = list(args)
    rest = [keyword.get(each.name, each.default_value) for each in schema.arguments[len(given) :]]
    return tuple(list(each) if isinstance(each, tuple) else each for each in (*given, *rest))


def can_be_kept(values: Values) -> bool:
    """Whether a call is on the CPU, dense and in double precision."""
    return all(map(_is_plain_value, values)) and all(map(_is_plain_tensor, tensors(values)))


def _is_plain_value(value: Any) -> bool:
    return all(map(_is_plain_value, value)) if isinstance(value, list) else isinstance(value, _PLAIN)


def _is_plain_tensor(tensor: Tensor) -> bool:
    if type(tensor) not in (Tensor, torch.nn.Parameter) or tensor.layout != torch.strided or tensor.is_quantized:
        return False
    known = tensor.dtype in _TAKEN or not (tensor.is_floating_point() or tensor.is_complex())
    return known and tensor.device.type == "cpu"


def signature(value: Any) -> Any:
    """What makes a value another kind of argument."""
    if isinstance(value, Tensor):
        return (tuple(value.shape), value.dtype)
    return tuple(map(signature, value)) if isinstance(value, list) else (type(value).__name__, repr(value))


def bare_name(name: str) -> str:
    """A name without namespace, overload and what surrounds it: `softmax` of `aten::_softmax` and
    `nn.functional.softmax`."""
    if "::" in name:
        name = name.rsplit("::", maxsplit=1)[-1].split(".", maxsplit=1)[0]
    name = name.removeprefix("nn.functional.").replace(".", "_").strip("_")
    return name.removeprefix("native_").removeprefix("slow_")


def is_part_of(name: str, functions: frozenset[str]) -> bool:
    """Whether an operator's name is that of a function or begins with it: `softmax_backward_data`."""
    pieces = bare_name(name).split("_")
    return any("_".join(pieces[:end]) in functions for end in range(1, len(pieces) + 1))
