"""The formulas next to torch's own for the same operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from pipeline.verify.child.checks import Finding, same, shown
from pipeline.verify.child.formulas import FormulaError
from pipeline.verify.child.graph import fitted
from pipeline.verify.child.point import Point, tensors_in


def differences(point: Point, function: Any) -> Iterator[Finding]:
    """The gradients that differ from torch's. None of them is compared if torch's formula raises an error."""
    wanted = gradients(point, function)
    if wanted is None:
        return
    computed = point.gradients()
    for number, slot in enumerate(point.slots):
        if slot.tensor is None or not slot.has_gradient or slot.name in point.formulas.not_implemented:
            continue
        try:
            own = fitted(computed[number], slot.tensor)
        except RuntimeError:
            continue
        if not same(own, wanted[number]):
            yield Finding("torch's own", slot.title, shown(own), shown(wanted[number]))
            return


def gradients(point: Point, function: Any) -> list[Tensor | None] | None:
    """The gradients of all slots by torch; None if torch has none."""
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
        torch.manual_seed(11)
        result = function(tuple(args))
        results = list(result) if isinstance(result, (tuple, list)) and len(point.formulas.outputs) > 1 else [result]
        flags = zip(results, point.formulas.differentiable)
        flat = [each for value, flag in flags if flag for each in tensors_in(value)]
        pairs = [(out, w) for out, w in zip(flat, point.cotangents) if w is not None and out.requires_grad]
        if not pairs:
            return None
        found = torch.autograd.grad([a for a, _ in pairs], [*tensors.values()], [b for _, b in pairs], allow_unused=True)
    except (RuntimeError, NotImplementedError, FormulaError):
        return None
    by_slot = dict(zip(tensors, found))
    return [by_slot.get(i) for i in range(len(point.slots))]
