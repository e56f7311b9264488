"""Whether an operator and its gradient are smooth at a point: differences to both sides agree."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from pipeline.verify.child.calls import Calls, Values, is_finite, is_float, mapped, tensors

STEP, WIDE_STEP = 1e-5, 1e-4  # for the operator, for its gradient

# First differences of a smooth function differ by the step times its curvature, second ones by what comes next.
_AGREE, _AGREE_SECOND = 1e-3, 5e-2
_DIRECTIONS = 2

_Outputs = list[Tensor]
_At = Callable[[float], _Outputs | None]  # the outputs so far away in one direction; None: there are none


def smoothness(calls: Calls, values: Values) -> tuple[bool, bool]:
    """Whether each output of floating point changes alike in a direction and in the opposite one; and its gradient.

    Both are False at kinks, jumps, inf and nan, at the border of a domain, and where outputs change shape."""
    if not all(map(is_finite, tensors(list(values)))):
        return False, False
    if not calls.probe.ask(lambda: all(_is_smooth(_in_direction(calls, values, n)) for n in range(_DIRECTIONS))):
        return False, False
    return True, calls.probe.ask(lambda: all(_bends_alike(_in_direction(calls, values, n)) for n in range(_DIRECTIONS)))


def _is_smooth(at: _At) -> bool:
    behind, here, ahead = (at(step) for step in (-STEP, 0.0, STEP))
    if behind is None or here is None or ahead is None:
        return False
    return all(_agree((b - a) / STEP, (c - b) / STEP, _AGREE) for a, b, c in zip(behind, here, ahead))


def _bends_alike(at: _At) -> bool:
    """Whether second differences agree: (f(h) - 2 f(0) + f(-h)) / h², around half a step ahead and behind."""
    points = [at(step * WIDE_STEP) for step in (-3, -2, -1, 1, 2, 3)]
    if any(each is None for each in points):
        return False
    outputs = zip(*(each for each in points if each is not None))
    return all(_agree(_second(a, b, c), _second(d, e, f), _AGREE_SECOND) for a, b, c, d, e, f in outputs)


def _second(behind: Tensor, here: Tensor, ahead: Tensor) -> Tensor:
    return (behind - 2 * here + ahead) / WIDE_STEP**2


def _in_direction(calls: Calls, values: Values, seed: int) -> _At:
    def at(step: float) -> _Outputs | None:
        outputs = calls.outputs(_shifted(values, step, seed))
        floats = [each for each in outputs or () if is_float(each)]
        if outputs is None or not all(map(is_finite, floats)):
            return None
        return [each.to_dense() if each.layout != torch.strided else each for each in floats]

    return at


def _shifted(values: Values, step: float, seed: int) -> Values:
    """All tensors of floating point, moved by a step in a random direction that the seed determines."""
    generator = torch.Generator().manual_seed(seed)

    def shift(each: Tensor) -> Tensor:
        if not is_float(each) or not step:
            return each
        return each + step * torch.randn(each.shape, generator=generator, dtype=each.dtype)

    return tuple(mapped(shift, value) for value in values)


def _agree(left: Tensor, right: Tensor, tolerance: float) -> bool:
    return left.shape == right.shape and bool(
        ((right - left).abs() <= tolerance * (1 + left.abs() + right.abs())).all()
    )
