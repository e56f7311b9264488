"""Whether an operator is smooth at a point: finite differences to both sides agree."""

from __future__ import annotations

import torch
from torch import Tensor

from pipeline.verify.child.calls import Calls, Values, is_finite, is_float, mapped, tensors

STEP = 1e-5
_AGREE = 1e-3  # differences of a smooth function differ by the step times its curvature
_DIRECTIONS = 2


def is_smooth(calls: Calls, values: Values) -> bool:
    """Whether each output of floating point changes alike in a direction and in the opposite one.

    False at kinks, jumps, inf and nan, at the border of a domain, and where outputs change shape."""
    return calls.probe.ask(lambda: _is_smooth(calls, values))


def _is_smooth(calls: Calls, values: Values) -> bool:
    middle = _floats(calls, values)
    if middle is None or not all(map(is_finite, tensors(list(values)))):
        return False
    for seed in range(_DIRECTIONS):
        ahead, behind = (_floats(calls, _shifted(values, step, seed)) for step in (STEP, -STEP))
        if ahead is None or behind is None or not all(map(_agree, behind, middle, ahead)):
            return False
    return True


def _floats(calls: Calls, values: Values) -> list[Tensor] | None:
    """The outputs of floating point; None if one is not finite."""
    outputs = calls.outputs(values)
    floats = [each.detach() for each in outputs or () if is_float(each)]
    if outputs is None or not all(map(is_finite, floats)):
        return None
    return [each.to_dense() if each.layout != torch.strided else each for each in floats]


def _shifted(values: Values, step: float, seed: int) -> Values:
    """All tensors of floating point, moved by a step in a random direction that goes by the seed."""
    generator = torch.Generator().manual_seed(seed)

    def shift(each: Tensor) -> Tensor:
        if not is_float(each):
            return each
        return each + step * torch.randn(each.shape, generator=generator, dtype=each.dtype)

    return tuple(mapped(shift, value) for value in values)


def _agree(behind: Tensor, middle: Tensor, ahead: Tensor) -> bool:
    if not behind.shape == middle.shape == ahead.shape:
        return False
    left, right = (middle - behind) / STEP, (ahead - middle) / STEP
    return bool(((right - left).abs() <= _AGREE * (1 + left.abs() + right.abs())).all())
