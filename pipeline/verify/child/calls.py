"""A call of an operator below autograd: one value for each argument of its schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

Operator = Callable[..., Any]
Values = tuple[Any, ...]

SEED = 20


class Calls:
    """The calls of one operator. `operator` is an overload, or a function that stands for one; `schema` is its own."""

    def __init__(self, operator: Operator, schema: torch._C.FunctionSchema) -> None:
        self.operator = operator
        self.arguments = list(schema.arguments)
        self._positional = sum(not each.kwarg_only for each in self.arguments)
        self._mutates = schema.is_mutable

    def outputs(self, values: Sequence[Any]) -> list[Tensor] | None:
        """The tensors that a call returns; None if the operator refuses it. Its inputs stay as they are, and random
        operators draw the same numbers in each call."""
        values = [copied(each) for each in values] if self._mutates else list(values)
        keyword = {each.name: value for each, value in zip(self.arguments, values) if each.kwarg_only}
        torch.default_generator.manual_seed(SEED)
        try:
            with torch.no_grad():
                return list(tensors(self.operator(*values[: self._positional], **keyword)))
        except Exception:  # whatever an operator raises, it does not take these values
            return None

    def accepts(self, values: Sequence[Any], *, finite: bool = False) -> bool:
        """Whether the operator takes these values; `finite`: and what it returns has no inf and no nan."""
        outputs = self.outputs(values)
        return outputs is not None and (not finite or all(map(is_finite, outputs)))


def tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in a value: itself, or those of lists and tuples."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from tensors(each)


def mapped(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """A value with each of its tensors replaced by what `function` returns."""
    if isinstance(value, Tensor):
        return function(value)
    return [mapped(function, each) for each in value] if isinstance(value, list) else value


def copied(value: Any) -> Any:
    return mapped(torch.clone, value)


def is_float(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def is_finite(tensor: Tensor) -> bool:
    return tensor.layout != torch.strided or not is_float(tensor) or bool(tensor.isfinite().all())


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same, tensors by what they contain and how they are laid out."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.dtype == other.dtype and one.stride() == other.stride() and torch.equal(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)
