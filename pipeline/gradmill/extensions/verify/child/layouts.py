"""The same call with tensors of other layouts and sizes: strides, broadcasts, one element, none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from gradmill.extensions.verify.child.calls import Values, is_float, mapped, replaced, tensors

Variant = tuple[str, Values]  # what is special, and the values
_Change = tuple[str, Callable[[Tensor], Tensor | None]]


def layouts(arguments: list[Any], values: Values) -> Iterator[Variant]:
    """Variants of a call: each tensor in another layout, and all of them."""
    return _changes(_LAYOUTS, arguments, values)


def sizes(arguments: list[Any], values: Values) -> Iterator[Variant]:
    """Variants of a call: with one element, of which some tensors are 0-dim; with none; with tensors that are broadcast
    or of lower rank."""
    yield "one element", mapped(_one_element, values)
    yield from _resized("empty", 0, values)
    of_rank_one = mapped(lambda each: _one_element(each).reshape(-1), values)
    yield from _changes((("0-dim", lambda each: each[0] if each.numel() else None),), arguments, of_rank_one)
    yield from _changes(_SIZES, arguments, values)
    yield from _resized("one", 1, values)


def _changes(changes: Iterable[_Change], arguments: list[Any], values: Values) -> Iterator[Variant]:
    for what, function in changes:
        changed = {place: change_each(function, value) for place, value in enumerate(values)}
        others = {place: other for place, other in changed.items() if other is not None}
        for place, other in others.items():
            yield f"{what} {arguments[place].name}", replaced(values, {place: other})
        if len(others) > 1:
            yield f"{what} tensors", replaced(values, others)


def change_each(function: Callable[[Tensor], Tensor | None], value: Any) -> Any:
    """A tensor or list of tensors that a function changes; None where it changes nothing, or not each of them."""
    own = list(tensors(value))
    known = [each for each in map(function, own) if each is not None]
    results = iter(known)
    return mapped(lambda _: next(results), value) if own and len(known) == len(own) else None


def _resized(what: str, size: int, values: Values) -> Iterator[Variant]:
    """The length of the first tensor's first or last dimension is cut, wherever a tensor has it: what is square, or
    is summed over, stays so."""
    first = next(tensors(list(values)), None)
    if first is None or not first.dim():
        return
    for length in sorted({first.shape[0], first.shape[-1]} - {0, size}):

        def cut(each: Tensor, length: int = length) -> Tensor:
            return each[tuple(slice(size if own == length else own) for own in each.shape)]

        yield f"{what}: {length} to {size}", mapped(cut, values)


def _has_rows(tensor: Tensor) -> bool:
    return tensor.dim() > 0 and tensor.shape[0] > 1


def _one_element(tensor: Tensor) -> Tensor:
    """The first element; of integers, which may be indices, 0."""
    first = tensor.reshape(-1)[:1].reshape([1] * tensor.dim()) if tensor.numel() else tensor
    return first if is_float(tensor) or tensor.dtype == torch.bool else torch.zeros_like(first)


_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}
_LAYOUTS: tuple[_Change, ...] = (
    ("transposed", lambda each: each.mT.contiguous().mT if each.dim() > 1 else None),
    ("expanded", lambda each: each[:1].expand_as(each) if is_float(each) and _has_rows(each) else None),
    ("channels-last", lambda each: each.contiguous(memory_format=_LAST[each.dim()]) if each.dim() in _LAST else None),
    ("strided", lambda each: torch.stack([each, each], -1)[..., 0] if each.dim() else None),
)
_SIZES: tuple[_Change, ...] = (
    ("broadcast", lambda each: each[:1] if _has_rows(each) else None),
    ("lower-rank", lambda each: each[0] if each.dim() and each.shape[0] else None),
)
