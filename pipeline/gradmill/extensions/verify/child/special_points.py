"""The same call at points where formulas go wrong: zeros, ties, branch points, inf and nan, singular matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, islice, zip_longest
from typing import Any

import torch
from torch import Tensor

from gradmill.extensions.verify.child.arguments import Change, Variant, change_each, other_arguments
from gradmill.extensions.verify.child.calls import Values, is_float, replaced, tensors

STEP = 1e-2  # between a branch point and what is next to it: more than the steps of finite differences

_SPECIAL = (0, -1, 1)
_LARGE = 800.0  # its exponential overflows


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
    for what, function in (("all zero", _constant(0.0)), ("all equal", _constant(0.5))):
        yield what, replaced(values, {place: _moved(function, values[place]) for place in places})
    paired = {place: _moved(_cycling(len(_SPECIAL) ** number), values[place]) for number, place in enumerate(places)}
    yield "pairs of 0, -1 and 1", replaced(values, paired)
    yield "all large", replaced(values, {place: _moved(_constant(_LARGE), values[place]) for place in places})
    for one, other in combinations(places, 2):
        first, second = values[one], values[other]
        if isinstance(first, Tensor) and isinstance(second, Tensor) and first.shape == second.shape and first.numel():
            equal = f"{names[one]} equal to {names[other]}"
            yield equal, replaced(values, {one: second.to(first.dtype, copy=True)})
            for name, number in numbers:
                yield f"{equal} plus {name}", replaced(values, {one: second.to(first.dtype) + number})


def _next_to_numbers(arguments: list[Any], values: Values, places: list[int]) -> Iterator[Variant]:
    """Special numbers as elements of all tensors, where a number of the call is zero or negative."""
    moved = {place: _moved(_cycling(1), values[place]) for place in places}
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
        yield f"at {name}", _constant(number)
        yield f"around {name}", _around(number)
        if number:
            yield f"at minus {name}", _constant(-number)


def _constant(number: float) -> Callable[[Tensor], Tensor | None]:
    return lambda each: torch.full_like(each, number)


def _cycling(period: int) -> Callable[[Tensor], Tensor | None]:
    """The special numbers in turn, each as often as `period` says: next to those of other periods all their pairs."""

    def cycle(each: Tensor) -> Tensor:
        numbers = torch.tensor(_SPECIAL, dtype=each.dtype)
        return numbers[torch.arange(each.numel()) // period % len(_SPECIAL)].reshape(each.shape)

    return cycle


def _around(number: float) -> Callable[[Tensor], Tensor | None]:
    """Alternately below and above a number."""

    def near(each: Tensor) -> Tensor:
        signs = 1 - 2 * (torch.arange(each.numel()) % 2).reshape(each.shape)
        return number + STEP * signs.to(each.dtype)

    return near


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
    ("zeros", _constant(0.0)),
    ("equal rows", lambda x: x[:1].expand_as(x).clone() if x.dim() > 1 and x.shape[0] > 1 else None),
    ("a nan", partial(_filled, number=math.nan)),
    ("an inf", partial(_filled, number=math.inf)),
)
_OTHERS: tuple[Change, ...] = (
    ("ones", _constant(1.0)),
    ("minus ones", _constant(-1.0)),
    ("identity", lambda x: torch.eye(x.shape[-1], dtype=x.dtype).expand_as(x).clone() if _is_square(x) else None),
    ("singular", lambda x: x[..., :1, :].expand_as(x).clone() if _is_square(x) else None),
    ("around zero", _around(0.0)),
    ("ties", _constant(0.5)),
    ("equal columns", lambda x: x[..., :1].expand_as(x).clone() if x.dim() and x.shape[-1] > 1 else None),
    ("a row of zeros", lambda x: _filled(x, 0, slice(x[0].numel())) if x.dim() > 1 else None),
    ("a -inf", partial(_filled, number=-math.inf)),
    ("around one", _around(1.0)),
    ("at 3", _constant(3.0)),
    ("at -3", _constant(-3.0)),
    ("large", _constant(40.0)),
    ("very negative", _constant(-40.0)),
    ("very large", _constant(_LARGE)),
)
