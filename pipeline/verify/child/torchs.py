"""The gradients of an operator by torch's own formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pipeline.verify.child.point import SEED, Point, tensors_in


def gradients(point: Point, cotangents: Sequence[Tensor | None]) -> list[Tensor | None] | None:
    """The gradients of all slots by torch; None if it has none, or raises an error. `cotangents`: those of the members
    of the differentiable outputs."""
    if point.function is None:
        return None
    tensors = {
        i: slot.tensor.detach().requires_grad_()
        for i, slot in enumerate(point.slots)
        if slot.tensor is not None and slot.has_gradient
    }
    args: list[Any] = [list(each) if isinstance(each, (list, tuple)) else each for each in point.args]
    for i, tensor in tensors.items():
        slot = point.slots[i]
        if slot.member < 0:
            args[slot.place] = tensor
        else:
            args[slot.place][slot.member] = tensor
    try:
        torch.default_generator.manual_seed(SEED)
        result = point.function(tuple(args))
        results = list(result) if isinstance(result, (tuple, list)) and len(point.formulas.outputs) > 1 else [result]
        flat = point.outputs(results)
        pairs = [(out, w) for out, w in zip(flat, cotangents) if w is not None and out.requires_grad]
        if not pairs:
            return None
        roots, weights = [out for out, _ in pairs], [w for _, w in pairs]
        found = torch.autograd.grad(roots, [*tensors.values()], weights, allow_unused=True)
    except (RuntimeError, NotImplementedError):
        return None
    dense = (each if each is None or each.layout == torch.strided else each.to_dense() for each in found)
    by_slot = dict(zip(tensors, dense))
    return [by_slot.get(i) for i in range(len(point.slots))]
