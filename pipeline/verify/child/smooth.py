"""Whether an operator and its gradient are smooth at a point, by differences in a few directions."""

from __future__ import annotations

import torch
from torch import Tensor

from pipeline.verify.child.calls import Calls, Values, is_finite, is_float, mapped, tensors

STEP, WIDE_STEP = 1e-5, 1e-4  # for the operator, for its gradient

# First differences of a smooth function differ by the step times its curvature, second ones by what comes next.
_AGREE, _AGREE_SECOND = 1e-3, 5e-2
_SMALLEST = 0.3  # second differences: a mean of many elements bends little

_Outputs = list[Tensor]
_Step = tuple[float, float, float]  # how far in each of two directions, and for the first element of each tensor
_ALONG: tuple[_Step, ...] = ((1, 0, 0), (0, 1, 0))
_FIRST: _Step = (0, 0, 1)  # kinks at many elements may cancel out
_BOTH, _FAR, _NOT = (1, 1, 0), (3, 0, 0), (0, 0, 0)


def smoothness(calls: Calls, values: Values) -> tuple[bool, bool]:
    """Whether each output of floating point has a linear derivative, and its gradient the same ahead and behind.

    Both are False at kinks, jumps, inf and nan, at the border of a domain, and where outputs change shape."""
    if not all(map(is_finite, tensors(list(values)))):
        return False, False
    if not calls.probe.ask(lambda: _is_smooth(calls, values)):
        return False, False
    return True, calls.probe.ask(lambda: all(_bends_alike(calls, values, step) for step in (*_ALONG, _FIRST)))


def _is_smooth(calls: Calls, values: Values) -> bool:
    """Whether slopes to both sides are equal, add up, and grow with the step: jumps and cones may be symmetric."""
    here = _at(calls, values, _NOT)
    slopes = [_slopes(calls, values, here, step) for step in (*_ALONG, _BOTH, _FAR)]
    if any(each is None for each in slopes):
        return False
    one, other, both, far = (each for each in slopes if each is not None)
    return all(_agree(a + b, c, _AGREE) and _agree(_FAR[0] * a, d, _AGREE) for a, b, c, d in zip(one, other, both, far))


def _slopes(calls: Calls, values: Values, here: _Outputs | None, step: _Step) -> _Outputs | None:
    """The slope of each output; None if it is another one behind."""
    behind, ahead = (_at(calls, values, _times(step, sign * STEP)) for sign in (-1, 1))
    if behind is None or here is None or ahead is None:
        return None
    left, right = ([(b - a) / STEP for a, b in zip(*pair)] for pair in ((behind, here), (here, ahead)))
    return right if all(_agree(a, b, _AGREE) for a, b in zip(left, right)) else None


def _bends_alike(calls: Calls, values: Values, step: _Step) -> bool:
    """Whether second differences agree: (f(h) - 2 f(0) + f(-h)) / h², two steps ahead and two behind."""
    points = [_at(calls, values, _times(step, far * WIDE_STEP)) for far in (-3, -2, -1, 1, 2, 3)]
    if any(each is None for each in points):
        return False
    outputs = zip(*(each for each in points if each is not None))
    return all(_agree(_second(a, b, c), _second(d, e, f), _AGREE_SECOND, _SMALLEST) for a, b, c, d, e, f in outputs)


def _second(behind: Tensor, here: Tensor, ahead: Tensor) -> Tensor:
    return (behind - 2 * here + ahead) / WIDE_STEP**2


def _at(calls: Calls, values: Values, step: _Step) -> _Outputs | None:
    """The outputs of floating point; None if a call is refused or gives inf or nan."""
    outputs = calls.outputs(_moved(values, step))
    floats = [each for each in outputs or () if is_float(each)]
    if outputs is None or not all(map(is_finite, floats)):
        return None
    return [each.to_dense() if each.layout != torch.strided else each for each in floats]


def _times(step: _Step, factor: float) -> _Step:
    return step[0] * factor, step[1] * factor, step[2] * factor


def _moved(values: Values, step: _Step) -> Values:
    """All tensors of floating point, moved in directions that are the same each time."""
    generator = torch.Generator().manual_seed(0)

    def move(each: Tensor) -> Tensor:
        if not is_float(each) or step == _NOT or not each.numel():
            return each
        one, other = (torch.randn(each.shape, generator=generator, dtype=each.dtype) for _ in range(2))
        first = torch.zeros_like(each, memory_format=torch.contiguous_format)
        first.view(-1)[0] = one.reshape(-1)[0]
        return each + step[0] * one + step[1] * other + step[2] * first

    return tuple(mapped(move, value) for value in values)


def _agree(left: Tensor, right: Tensor, tolerance: float, smallest: float = 1) -> bool:
    return left.shape == right.shape and bool(
        ((right - left).abs() <= tolerance * (smallest + left.abs() + right.abs())).all()
    )
