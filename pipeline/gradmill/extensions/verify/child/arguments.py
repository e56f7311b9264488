"""The same call with one argument changed: flags, dimensions, enumerations, numbers, absent tensors, dtypes; or with
tensors of other layouts and sizes: strides, broadcasts, one element, none; or at points where formulas go wrong: zeros,
ties, branch points, inf and nan, singular matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import combinations, islice, zip_longest
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
STEP = 1e-2  # between a branch point and what is next to it: more than the steps of finite differences
_SPECIAL = (0, -1, 1)
_LARGE = 800.0  # its exponential overflows


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
    if kind == "bool":
        yield f"= {not value}", not value
    elif kind == "List[int]":
        yield from _lists(value or [], argument.N)
    elif kind.startswith("List[") and value:
        yield "empty list", []
    elif kind in _NUMBERS:
        others = SMALL.get(argument.name) or CHOICES.get(argument.name) or _NUMBERS[kind]
        yield from ((_name(other, values), other) for other in others if repr(other) != repr(value))
    elif kind == "str":
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
    """Values for an optional argument that is None, and no number, list of numbers or string: tensors of the shapes of
    others, or of what they can be cut to."""
    if kind == "Tensor":
        first = next((each for each in tensors(list(values)) if is_float(each)), None)
        if first is not None and not INDEX.fullmatch(argument.name):
            yield from (
                (f"given, {tuple(shape)}", torch.linspace(0.4, 1.3, shape.numel(), dtype=first.dtype).reshape(shape))
                for shape in _shapes(first)
            )
    elif kind not in ("List[int]", "bool", "str", *_NUMBERS):
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


def points(arguments: list[Any], values: Values) -> Iterator[Variant]:
    """Variants of a call: each tensor of floating point at each point, and all of them next to each other. Gradients,
    which operators are linear in, come last."""
    names = [each.name for each in arguments]
    places = [place for place, value in enumerate(values) if any(map(is_float, tensors(value)))]
    own = [place for place in places if not names[place].startswith("grad")]
    yield from _at(arguments, values, own or places)
    yield from _at(arguments, values, [place for place in places if own and place not in own])


def points_of_variants(arguments: list[Any], values: Values) -> Iterator[Variant]:
    """Variants of a call with another argument, each at the first points: those of one point after the other."""
    changed = [each for each in other_arguments(arguments, values) if not each[0].endswith("tensor")]
    count = 3 * sum(any(map(is_float, tensors(value))) for value in values)
    for of_point in zip_longest(*(islice(points(arguments, own), count) for _, own in changed)):
        for (what, _), variant in zip(changed, of_point):
            if variant is not None:
                yield f"{what}, {variant[0]}", variant[1]


def _at(arguments: list[Any], values: Values, places: list[int]) -> Iterator[Variant]:
    names = [each.name for each in arguments]
    numbers = [(each.name, float(value)) for each, value in zip(arguments, values) if _is_number(each, value)]
    for what, function in (*_FIRST, *_at_numbers(numbers), *_OTHERS):
        for place in places:
            changed = _moved(function, values[place])
            if changed is not None:
                yield f"{names[place]}: {what}", replaced(values, {place: changed})
        if what == _FIRST[-1][0]:
            yield from _next_to_each_other(names, values, places, numbers)
            yield from _next_to_numbers(arguments, values, places)


def _next_to_each_other(
    names: list[str], values: Values, places: list[int], numbers: list[tuple[str, float]]
) -> Iterator[Variant]:
    """All tensors zero, all equal; pairs of special numbers as their elements; all so large that their exponentials
    overflow; each two of one shape equal, or apart by one of the call's numbers."""
    if len(places) < 2:
        return
    together = {
        "all zero": [_cycle(0.0)] * len(places),
        "all equal": [_cycle(0.5)] * len(places),
        "pairs of 0, -1 and 1": [_cycle(*_SPECIAL, each=len(_SPECIAL) ** number) for number in range(len(places))],
        "all large": [_cycle(_LARGE)] * len(places),
    }
    for what, functions in together.items():
        pairs = zip(places, functions)
        yield what, replaced(values, {place: _moved(function, values[place]) for place, function in pairs})
    for one, other in combinations(places, 2):
        first, second = values[one], values[other]
        if isinstance(first, Tensor) and isinstance(second, Tensor) and first.shape == second.shape and first.numel():
            equal = f"{names[one]} equal to {names[other]}"
            yield equal, replaced(values, {one: second.to(first.dtype, copy=True)})
            for name, number in numbers:
                yield f"{equal} plus {name}", replaced(values, {one: second.to(first.dtype) + number})


def _next_to_numbers(arguments: list[Any], values: Values, places: list[int]) -> Iterator[Variant]:
    """Special numbers as elements of all tensors, where a number of the call is zero or negative."""
    moved = {place: _moved(_cycle(*_SPECIAL), values[place]) for place in places}
    for number, (argument, value) in enumerate(zip(arguments, values)):
        for special in (0.0, -1.0) if moved and _is_number(argument, value) else ():
            yield f"0, -1 and 1, {argument.name} = {special}", replaced(values, {**moved, number: special})


def _is_number(argument: Any, value: Any) -> bool:
    """Whether a value is a number that tensors are compared with, and no dimension, size or enumeration."""
    takes = str(argument.real_type).removeprefix("Optional[").removesuffix("]")
    return takes in ("float", "number") and isinstance(value, int | float) and math.isfinite(value)


def _moved(function: Callable[[Tensor], Tensor | None], value: Any) -> Any:
    """A tensor or list of tensors at a point, but for those of integers; None where the point is none of theirs."""

    def moved(each: Tensor) -> Tensor | None:
        return each if not is_float(each) else function(each) if each.numel() else None

    return change_each(moved, value)


def _at_numbers(numbers: list[tuple[str, float]]) -> Iterator[Change]:
    """At the numbers that a call is given: thresholds, bounds."""
    for name, number in numbers:
        yield f"at {name}", _cycle(number)
        yield f"around {name}", _around(number)
        if number:
            yield f"at minus {name}", _cycle(-number)


def _cycle(*numbers: float, each: int = 1) -> Callable[[Tensor], Tensor | None]:
    """These numbers in turn, each so often: next to a cycle with another number of times all their pairs."""

    def cycle(tensor: Tensor) -> Tensor:
        places = torch.arange(tensor.numel()) // each % len(numbers)
        return torch.tensor(numbers, dtype=tensor.dtype)[places].reshape(tensor.shape)

    return cycle


def _around(number: float) -> Callable[[Tensor], Tensor | None]:
    """Alternately above and below a number."""
    return _cycle(number + STEP, number - STEP)


def _is_square(each: Tensor) -> bool:
    return each.dim() > 1 and each.shape[-1] == each.shape[-2] > 1


def _filled(each: Tensor, number: Any, places: slice = slice(1)) -> Tensor:
    """Some of all elements, by default the first, are a number."""
    flat = each.flatten().clone()
    flat[places] = number
    return flat.reshape(each.shape)


def _tied_pair(each: Tensor) -> Tensor | None:
    """The two largest values are equal."""
    if each.is_complex() or each.numel() < 2:
        return None
    return _filled(each, each.max(), slice(None, None, each.numel() - 1))


_FIRST: tuple[Change, ...] = (
    ("two largest equal", _tied_pair),
    ("a zero", partial(_filled, number=0.0)),
    ("zeros", _cycle(0.0)),
    ("equal rows", lambda x: x[:1].expand_as(x).clone() if x.dim() > 1 and x.shape[0] > 1 else None),
    ("a nan", partial(_filled, number=math.nan)),
    ("an inf", partial(_filled, number=math.inf)),
)
_OTHERS: tuple[Change, ...] = (
    ("ones", _cycle(1.0)),
    ("minus ones", _cycle(-1.0)),
    ("identity", lambda x: torch.eye(x.shape[-1], dtype=x.dtype).expand_as(x).clone() if _is_square(x) else None),
    ("singular", lambda x: x[..., :1, :].expand_as(x).clone() if _is_square(x) else None),
    ("around zero", _around(0.0)),
    ("ties", _cycle(0.5)),
    ("equal columns", lambda x: x[..., :1].expand_as(x).clone() if x.dim() and x.shape[-1] > 1 else None),
    ("a row of zeros", lambda x: _filled(x, 0, slice(x[0].numel())) if x.dim() > 1 else None),
    ("a -inf", partial(_filled, number=-math.inf)),
    ("around one", _around(1.0)),
    ("at 3", _cycle(3.0)),
    ("at -3", _cycle(-3.0)),
    ("large", _cycle(40.0)),
    ("very negative", _cycle(-40.0)),
    ("very large", _cycle(_LARGE)),
)
