"""The same call with one argument changed: flags, dimensions, enumerations, numbers, absent tensors, dtypes; or with
tensors of other layouts and sizes: strides, broadcasts, one element, none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from random import Random
from typing import Any

import torch
from torch import Tensor

from gradmill.extensions.verify.child.calls import Values, is_float, mapped, replaced, tensors
from gradmill.extensions.verify.child.values import ANY_STRING, CHOICES, INDEX, SMALL, STRINGS
from gradmill.extensions.verify.child.values import Values as Drawing

Variant = tuple[str, Values]  # what is special, and the values
Change = tuple[str, Callable[[Tensor], Tensor | None]]  # what is special, and how a tensor gets it
SAME = "the same everywhere"  # of indices


def other_arguments(arguments: list[Any], values: Values) -> Iterator[Variant]:
    """Variants of a call, each with one argument changed: one of each argument in turn."""
    of_each = [list(_others(argument, values, place)) for place, argument in enumerate(arguments)]
    for turn in range(max(map(len, of_each), default=0)):
        for place, own in enumerate(of_each):
            for what, value in own[turn : turn + 1]:
                yield f"{arguments[place].name} {what}", replaced(values, {place: value})


def pairs(arguments: list[Any], values: Values) -> Iterator[Variant]:
    """Variants of a call with two arguments changed: each value of one with each of another, the first ones first.
    Tensors of numbers stay as they are."""
    of_each = [
        [] if any(map(is_float, tensors(values[place]))) else list(_others(argument, values, place))
        for place, argument in enumerate(arguments)
    ]
    found = [
        (one + other, place, second, (one, other))
        for place, second in combinations(range(len(arguments)), 2)
        for one in range(len(of_each[place]))
        for other in range(len(of_each[second]))
    ]
    for _, place, second, (one, other) in sorted(found, key=lambda each: each[0]):
        (what, value), (also, changed) = of_each[place][one], of_each[second][other]
        title = f"{arguments[place].name} {what}, {arguments[second].name} {also}"
        yield title, replaced(values, {place: value, second: changed})


def _others(argument: Any, values: Values, place: int) -> Iterator[tuple[str, Any]]:
    value, kind = values[place], str(argument.real_type)
    if kind.startswith("Optional["):
        kind = kind[len("Optional[") : -1]
        yield from [("None", None)] if value is not None else _given(argument, kind, values)
    if kind == "bool" and isinstance(value, bool):
        yield f"= {not value}", not value
    elif kind == "List[int]" and isinstance(value, list):
        yield from _lists(value, argument.N)
    elif kind.startswith("List[") and value:
        yield "empty list", []
    elif kind in _NUMBERS and value is not None:
        others = SMALL.get(argument.name) or CHOICES.get(argument.name) or _NUMBERS[kind]
        yield from ((_name(other, values), other) for other in others if repr(other) != repr(value))
    elif kind == "str" and value is not None:
        yield from ((f"= {other!r}", other) for other in STRINGS.get(argument.name, ANY_STRING) if other != value)
    elif kind in ("Tensor", "List[Tensor]") and any(map(is_float, tensors(value))):
        yield from _dtypes(value)
    elif kind == "Tensor" and isinstance(value, Tensor) and value.dtype == torch.int64 and value.numel() > 1:
        yield SAME, value.flatten()[-1].expand_as(value).clone()


def _name(number: Any, values: Values) -> str:
    """What is special about a number: a complex one is another thing next to complex tensors."""
    next_to = isinstance(number, complex) and any(each.is_complex() for each in tensors(list(values)))
    return f"= {number}, as the tensors" if next_to else f"= {number}"


def _given(argument: Any, kind: str, values: Values) -> Iterator[tuple[str, Any]]:
    """Values for an optional argument that is None: tensors of the shapes of others, or of what they can be cut to."""
    if kind == "Tensor":
        first = next((each for each in tensors(list(values)) if is_float(each)), None)
        if first is not None and not INDEX.fullmatch(argument.name):
            yield from (
                (f"given, {tuple(shape)}", torch.linspace(0.4, 1.3, shape.numel(), dtype=first.dtype).reshape(shape))
                for shape in _shapes(first)
            )
        return
    if kind == "List[int]":
        yield from _lists([], argument.N)
        return
    if kind in _NUMBERS:
        yield from ((f"= {other}", other) for other in SMALL.get(argument.name) or _GIVEN[kind])
        return
    drawing = Drawing(Random(argument.name), "")  # noqa: S311 - samples, not secrets
    value = drawing.of_kind(kind, argument.name, argument.N, lambda name: (2, 3))
    if value is not None:
        yield "given", value


def _shapes(tensor: Tensor) -> list[torch.Size]:
    """The shape of a tensor, and those that may stand for its channels, rows or elements."""
    shape = tensor.shape
    return list(dict.fromkeys((shape, shape[1:2], shape[-1:], shape[:1], torch.Size(()))))


def _lists(value: list[int], length: int | None) -> Iterator[tuple[str, list[int]]]:
    length = length or (len(value) if len(value) > 2 else 1)
    candidates = [value[::-1], [-1 - each for each in value], [0, 1], [], [1, 0], [1, 2], [0], [-1], [-1, 0]]
    if length > 1:
        candidates = [value[::-1], [1] * length, [1 + each % 2 for each in range(length)], [0] * length, [2] * length]
    for other in candidates:
        if other != value:
            yield f"= {other}", other


def _dtypes(value: Any) -> Iterator[tuple[str, Any]]:
    """A tensor of integers, of negative ones, of bools, of complex numbers, where the others are of floating point."""
    yield "an integer tensor", mapped(lambda each: (each.real * 3).to(torch.int64), value)
    yield "a negative integer tensor", mapped(lambda each: -1 - (each.real.abs() * 3).to(torch.int64), value)
    yield "a bool tensor", mapped(lambda each: each.real > 0.5, value)
    if not any(each.is_complex() for each in tensors(value)):
        yield "a complex tensor", mapped(as_complex, value)


def as_complex(tensor: Tensor) -> Tensor:
    """A tensor of floating point as a complex one."""
    return torch.complex(tensor, 0.5 - tensor / 4) if tensor.dtype == torch.float64 else tensor


_NUMBERS: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, 2, -1, -2, 3),
    "float": (0.0, 0.5, 1.0, 2.0, float("inf")),
    "number": (0.5 + 0.25j, True, 2, 0, 1.0, -1, 0.5, float("inf"), 3.0, -float("inf")),
}
_GIVEN: dict[str, tuple[Any, ...]] = {"int": (0, 1, 2), "float": (0.5, 0.0, 2.0), "number": (0, 2, 0.5, 1)}


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


def _changes(changes: Iterable[Change], arguments: list[Any], values: Values) -> Iterator[Variant]:
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
_LAYOUTS: tuple[Change, ...] = (
    ("transposed", lambda each: each.mT.contiguous().mT if each.dim() > 1 else None),
    ("expanded", lambda each: each[:1].expand_as(each) if is_float(each) and _has_rows(each) else None),
    ("channels-last", lambda each: each.contiguous(memory_format=_LAST[each.dim()]) if each.dim() in _LAST else None),
    ("strided", lambda each: torch.stack([each, each], -1)[..., 0] if each.dim() else None),
)
_SIZES: tuple[Change, ...] = (
    ("broadcast", lambda each: each[:1] if _has_rows(each) else None),
    ("lower-rank", lambda each: each[0] if each.dim() and each.shape[0] else None),
)
