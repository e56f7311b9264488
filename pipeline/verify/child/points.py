"""The same call at points where formulas go wrong: zeros, ties, branch points, inf and nan, singular matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from pipeline.verify.child.calls import Values, is_float, mapped, tensors
from pipeline.verify.child.layouts import Variant

STEP = 1e-2  # between a branch point and what is next to it: more than the steps of finite differences

INFINITE = ("an inf", "a -inf", "a nan")


def points(names: list[str], values: Values) -> Iterator[Variant]:
    """Variants of a call: each tensor of floating point at each point, then all at zero and all equal."""
    places = [place for place, value in enumerate(values) if any(map(is_float, tensors(value)))]
    thresholds = [(f"at {names[place]}", float(value)) for place, value in enumerate(values) if _is_number(value)]
    for what, function in (*_AT, *_at_thresholds(thresholds), *_MATRICES, *_LAST):
        for place in places:
            changed = _moved(function, values[place])
            if changed is not None:
                yield f"{names[place]}: {what}", (*values[:place], changed, *values[place + 1 :])
    if len(places) > 1:
        for what, number in (("all zero", 0.0), ("all equal", 0.5)):
            yield (
                what,
                tuple(_moved(_constant(number), value) if at in places else value for at, value in enumerate(values)),
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _moved(function: Callable[[Tensor], Tensor | None], value: Any) -> Any:
    """A tensor or list of tensors at a point; None where the point is none of theirs."""
    inside = [each for each in tensors(value) if is_float(each)]
    if any(not each.numel() or function(each) is None for each in inside):
        return None

    def at(each: Tensor) -> Tensor:
        moved = function(each) if is_float(each) else None
        return each if moved is None else moved

    return mapped(at, value)


def _at_thresholds(thresholds: list[tuple[str, float]]) -> Iterator[tuple[str, Callable[[Tensor], Tensor | None]]]:
    for what, number in thresholds:
        yield what, _constant(number)
        yield f"around {what[3:]}", _around(number)
        if number:
            yield f"at minus {what[3:]}", _constant(-number)


def _constant(number: float) -> Callable[[Tensor], Tensor | None]:
    return lambda each: torch.full_like(each, number)


def _around(number: float) -> Callable[[Tensor], Tensor | None]:
    """Alternately below and above a number."""

    def near(each: Tensor) -> Tensor:
        signs = 1 - 2 * (torch.arange(each.numel()) % 2).reshape(each.shape)
        return number + STEP * signs.to(each.dtype)

    return near


def _with(number: float) -> Callable[[Tensor], Tensor | None]:
    """One element is a number."""

    def put(each: Tensor) -> Tensor:
        copy = each.clone(memory_format=torch.contiguous_format)
        copy.view(-1)[0] = number
        return copy

    return put


def _equal_rows(each: Tensor) -> Tensor | None:
    return each[:1].expand_as(each).clone() if each.dim() > 1 and each.shape[0] > 1 else None


def _equal_columns(each: Tensor) -> Tensor | None:
    return each[..., :1].expand_as(each).clone() if each.dim() and each.shape[-1] > 1 else None


def _tied_pair(each: Tensor) -> Tensor | None:
    """The two largest values are equal."""
    if each.is_complex() or each.numel() < 2:
        return None
    copy = each.clone(memory_format=torch.contiguous_format)
    copy.view(-1)[0] = copy.view(-1)[-1] = copy.max()
    return copy


def _is_square(each: Tensor) -> bool:
    return each.dim() > 1 and each.shape[-1] == each.shape[-2] > 1


def _singular(each: Tensor) -> Tensor | None:
    return each[..., :1, :].expand_as(each).clone() if _is_square(each) else None


def _identity(each: Tensor) -> Tensor | None:
    """All singular values and eigenvalues are equal."""
    return torch.eye(each.shape[-1], dtype=each.dtype).expand_as(each).clone() if _is_square(each) else None


def _zero_row(each: Tensor) -> Tensor | None:
    if each.dim() < 2:
        return None
    copy = each.clone(memory_format=torch.contiguous_format)
    copy[0] = 0
    return copy


_AT: tuple[tuple[str, Callable[[Tensor], Tensor | None]], ...] = (
    ("zeros", _constant(0.0)),
    ("a zero", _with(0.0)),
    ("ones", _constant(1.0)),
    ("minus ones", _constant(-1.0)),
    ("ties", _constant(0.5)),
    ("two largest equal", _tied_pair),
    ("equal rows", _equal_rows),
    ("equal columns", _equal_columns),
    ("around zero", _around(0.0)),
    ("around one", _around(1.0)),
    ("a row of zeros", _zero_row),
)
_MATRICES = (("singular", _singular), ("identity", _identity))
_LAST = (
    ("large", _constant(40.0)),
    ("very negative", _constant(-40.0)),
    *zip(INFINITE, (_with(math.inf), _with(-math.inf), _with(math.nan))),
)
