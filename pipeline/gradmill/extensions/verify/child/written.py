"""The in-place variants of an operator: the gradients where they write into a view of another tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gradmill.extensions.verify.child.calls import SEED, is_float
from gradmill.extensions.verify.child.checks import Finding, Inapplicable, number_of, range_of
from gradmill.extensions.verify.child.domains import EVERYWHERE
from gradmill.extensions.verify.child.graph import fitted
from gradmill.extensions.verify.child.operators import Function
from gradmill.extensions.verify.child.point import Point, Slope, inner, normal, slope
from gradmill.extensions.verify.child.torchs import TorchFormulas

SELF = "self"


def written(point: Point) -> Iterator[Finding]:
    """The gradients of a tensor and of the other inputs, next to finite differences, where an in-place variant writes
    into a view of that tensor and another view of it is read. Inapplicable if no variant takes the arguments."""
    own = dict(zip(point.formulas.arguments, point.args)).get(SELF)
    taken: list[tuple[str, Function]] = []
    if isinstance(own, Tensor) and point.domain is EVERYWHERE and SELF not in point.formulas.not_implemented:
        taken = [(name, function) for name, function in point.formulas.in_place if _takes(function, point.args, own)]
    if own is None or not taken or not is_float(own):
        raise Inapplicable
    lacks = "" if any(slot.name == SELF for slot in point.slots) else ", as self has no formula"
    for name, function in taken:
        for title, value, wanted in _derivatives(point, function, own):
            if wanted is not None and not wanted.fits(value):
                computed = f"{number_of(value)}{lacks}"
                yield Finding(f"gradient where {name} writes into a view", title, computed, range_of(wanted))
                break


def _takes(function: Function, args: Sequence[Any], own: Tensor) -> bool:
    """Whether an in-place function takes these arguments, and leaves `self` as it is but for its elements."""
    try:
        result, _ = _called(function, args)
    except Exception:  # whatever it raises: most refuse what would change the shape or type
        return False
    return isinstance(result, Tensor) and (result.shape, result.dtype) == (own.shape, own.dtype)


def _called(function: Function, args: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """The new `self`, and the arguments after the call; of a random function the same each time."""
    torch.default_generator.manual_seed(SEED)
    return function(tuple(args))


def _derivatives(point: Point, function: Function, own: Tensor) -> Iterator[tuple[str, float, Slope | None]]:
    """For each input its name, the derivative of a loss in a direction, and the same by finite differences."""
    generator = torch.Generator().manual_seed(11)
    others = {number: tensor for number, slot, tensor in point.implemented if slot.name != SELF}
    base = torch.stack((normal(own, generator), own.detach()), -1)
    weight = normal(base.view(-1), generator)
    computed = _gradients(point, function, base, others, weight)

    def loss(step: float, move: Tensor, number: int | None) -> float:
        moved = base + step * move if number is None else base
        args = point.args if number is None else point.moved({number: move}, step)
        with torch._C._AutoDispatchBelowAutograd():
            result, _ = _called(function, _on(point, moved.select(-1, 1), args))
        return inner([weight], [torch.stack((moved.select(-1, 0), result), -1).view(-1)])

    for number, gradient in zip((None, *others), computed):
        move = normal(base if number is None else others[number], generator)
        title = SELF if number is None else point.slots[number].title
        yield title, inner([gradient], [move]), slope(partial(loss, move=move, number=number), single=False)


def _gradients(
    point: Point, function: Function, base: Tensor, others: Mapping[int, Tensor], weight: Tensor
) -> list[Tensor | None]:
    """The gradients of `base`, into a view of which the function writes, and of the other slots."""
    leaves = [each.detach().clone().requires_grad_() for each in (base, *others.values())]
    with torch.enable_grad():
        whole = leaves[0].clone()
        view = whole.select(-1, 1)
        by_slot = dict(zip(others, leaves[1:]))
        args = _on(point, view, point.filled(point.args, by_slot))
        if isinstance(point.formulas, TorchFormulas):
            view.copy_(_called(function, args)[0])
        else:  # the engine takes the first gradient of a Node for that of the view
            rest = [by_slot.get(number, slot.tensor) for number, slot in enumerate(point.slots)][1:]
            _Write.apply(point, function, args, view, *rest)  # type: ignore[no-untyped-call]
        found = torch.autograd.grad(whole.view(-1), leaves, weight, allow_unused=True)
    return [fitted(gradient, leaf) for gradient, leaf in zip(found, leaves)]


def _on(point: Point, own: Tensor, args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments with `own` as self."""
    return tuple(own if name == SELF else each for name, each in zip(point.formulas.arguments, args))


class _Write(torch.autograd.Function):
    """An in-place function with the compiled formulas: what it saves is the old `self`, and the new one as result."""

    @staticmethod
    def forward(
        ctx: Any, point: Point, function: Function, args: Sequence[Any], view: Tensor, *rest: Tensor | None
    ) -> Tensor:
        args = _on(point, view.clone(), args)
        with torch._C._AutoDispatchBelowAutograd():
            ctx.result, after = _called(function, args)
        ctx.point, ctx.args = point, _on(point, view.clone(), after)
        view.copy_(ctx.result)
        ctx.mark_dirty(view)
        return view

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> tuple[Tensor | None, ...]:
        found = ctx.point.gradients(cotangents=[cotangent], args=ctx.args, results=[ctx.result])
        tensors = (None, *(slot.tensor for slot in ctx.point.slots[1:]))
        own = [gradient if tensor is None else fitted(gradient, tensor) for gradient, tensor in zip(found, tensors)]
        return None, None, None, *own
