"""An operator with its formulas as functions that torch differentiates: for second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from gradmill.extensions.verify.child.call_at_sample import Point, inner, with_strides
from gradmill.extensions.verify.child.calls import Gradients, is_float, mapped, tensors, weighted
from gradmill.extensions.verify.child.formulas import Args, Tangents, dual, tangent


class _Operator(torch.autograd.Function):
    """The operator at a point, as a function of the slots' tensors there, whose first derivatives are the formulas."""

    @staticmethod
    def forward(point: Point, *own: Tensor) -> tuple[Tensor, ...]:
        return tuple(each.detach().clone() for each in tensors(point.results))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.point = inputs[0]
        ctx.mark_non_differentiable(*(each for each, (_, flag) in zip(output, _outputs(ctx.point)) if not flag))

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> tuple[Tensor | None, ...]:
        point: Point = ctx.point
        found = point.gradients(cotangents=point.outputs(_with(point.results, cotangents)))
        return None, *(fitted(found[i], tensor) for i, _, tensor in point.active)

    @staticmethod
    def jvp(ctx: Any, _: None, *moves: Tensor) -> tuple[Tensor | None, ...]:
        point: Point = ctx.point
        with forward_ad._set_fwd_grad_enabled(True):  # of members of lists, and of torch's own formulas
            found = {name: iter(each) for name, each in tangents_of(point, dict(zip(point.moves, moves))).items()}
        missing = [name for name, flag in _outputs(point) if flag and name not in found]
        if missing:
            raise LookupError(f"'{missing[0]}' has no forward formula")
        own = [next(found[name]) if flag else None for name, flag in _outputs(point)]
        pairs = zip(own, tensors(point.results), _outputs(point))
        return tuple(torch.zeros_like(of) if move is None and flag else move for move, of, (_, flag) in pairs)


def _outputs(point: Point) -> Iterator[tuple[str, bool]]:
    """Of each tensor of the outputs the output's name, and whether it is differentiable."""
    for name, result, flag in zip(point.formulas.outputs, point.results, point.formulas.differentiable):
        yield from ((name, flag and is_float(each)) for each in tensors(result))


def _with(results: list[Any], others: Iterable[Tensor]) -> list[Any]:
    """Outputs with others in place of their tensors."""
    rest = iter(others)
    return list(mapped(lambda _: next(rest), results))


def _called(point: Point, own: Iterable[Tensor]) -> tuple[Args, list[Any]]:
    """The arguments with these tensors in the slots that have a gradient, and the results, as functions of them; in a
    graph without those whose gradient no formula reads."""
    own = tuple(own)
    results = _with(point.results, _Operator.apply(point, *own))  # type: ignore[no-untyped-call]
    if torch.is_grad_enabled() and any(point.formulas.read):
        pairs = zip(results, point.formulas.read)
        results = [each if flag else mapped(torch.Tensor.detach, each) for each, flag in pairs]
    return point.filled(point.after, dict(zip(point.moves, own))), results


def fitted(gradient: Tensor | None, tensor: Tensor) -> Tensor | None:
    """A gradient as the engine passes it on: summed to the input's shape."""
    if gradient is None or gradient.shape == tensor.shape:
        return gradient
    return gradient.sum_to_size(tensor.shape)


def gradients(point: Point, *of: Tensor) -> list[Tensor | None]:
    """The gradients, as a function of the slots' tensors and of the cotangents."""
    args, results = _called(point, of[: len(point.moves)])
    given = iter(of[len(point.moves) :])
    cotangents = [None if each is None else next(given) for each in point.cotangents]
    found = point.formulas.gradients(args, results, cotangents, point.needs)
    return [fitted(found[i], tensor) for i, _, tensor in point.active]


def tangents(point: Point, *own: Tensor, nested: bool = False) -> tuple[Tensor | None, ...]:
    """The tangents along `point.moves`, as a function of the slots' tensors, in a dual level, which may be `nested` in
    functorch."""
    moves = tuple(point.moves.values())
    if not point.formulas.is_torchs:
        computed = point.formulas.outputs_tangents(*_called(point, own), of_arguments(point, point.moves))
        return tuple(each for members in computed.values() for each in members if each is not None)
    if nested:
        found: tuple[Tensor, ...] = torch.func.jvp(partial(_by_torch, point), own, moves)[1]
        return found
    return tuple(tangent(each) for each in _by_torch(point, *map(dual, own, moves)))


def _by_torch(point: Point, *own: Tensor) -> tuple[Tensor, ...]:
    """The outputs by torch's operator that have formulas for tangents."""
    names = {name for each in point.formulas.tangents for name in each["outputs"]}
    args = point.filled(point.args, dict(zip(point.moves, own)))
    found = point.formulas.listed(point.formulas.function(args)[0])
    return tuple(each for name, each in zip(point.formulas.outputs, found) if len(found) == 1 or name in names)


def reverse(
    function: Callable[..., Gradients], inputs: Iterable[Tensor], weights: Sequence[Tensor]
) -> list[Tensor | None]:
    """The gradients, by the inputs, of the inner product of what a function returns with `weights`."""
    with torch.enable_grad():
        own = [tensor.detach().clone().requires_grad_() for tensor in inputs]
        return weighted(function(*own), weights, own)


def dual_gradients(point: Point) -> list[Tensor | None]:
    """The tangents of the gradients, for those of the slots, and those of the cotangents that are equal to them:
    forward over reverse. With tangents for all of them torch needs no meta kernels, whose import takes a second."""
    with torch.no_grad(), forward_ad.dual_level():
        own = [dual(tensor.detach().clone().requires_grad_(), point.moves[i]) for i, _, tensor in point.active]
        cotangents = [dual(each, each.clone()) for each in point.cotangents if each is not None]
        return [None if each is None else tangent(each) for each in gradients(point, *own, *cotangents)]


def forward_of_tangents(point: Point, along: Mapping[int, Tensor], weights: Sequence[Tensor]) -> float:
    """The derivative of the tangents' inner product with `weights` as slots move along, forward over forward, nested in
    functorch: helpers of formulas ask for its tensors."""
    own = tuple(tensor.detach().clone() for _, _, tensor in point.active)
    with torch.no_grad():
        return inner(weights, torch.func.jvp(partial(tangents, point, nested=True), own, tuple(along.values()))[1])


def reverse_of_tangents(point: Point, along: Mapping[int, Tensor], weights: Sequence[Tensor]) -> float:
    """The same, reverse over forward. LookupError for what cannot be done."""
    if not point.formulas.has_backward:
        raise LookupError("the operator has no backward formula")
    with forward_ad.dual_level():
        found = reverse(partial(tangents, point), [tensor for _, _, tensor in point.active], weights)
    return inner(found, list(along.values()))


def tangents_of(point: Point, moves: Mapping[int, Tensor], given: Sequence[Tensor | None] | None = None) -> Tangents:
    """The tangents of the outputs by the forward formulas; an in-place function's output has the name `self`. `given`:
    those of the arguments."""
    listed = ((i, tensor) for i, slot, tensor in point.active if i in moves and slot.member >= 0)
    args = point.filled(point.after, {i: dual(tensor.detach().clone(), moves[i]) for i, tensor in listed})
    given = of_arguments(point, moves) if given is None else given
    computed = point.formulas.outputs_tangents(args, point.results, given)
    own = point.formulas.outputs
    return {own[0] if name == "result" and len(own) == 1 else name: each for name, each in computed.items()}


def of_arguments(point: Point, moves: Mapping[int, Tensor]) -> list[Tensor | None]:
    """The tangent of each argument that is a tensor."""
    own = {
        slot.place: with_strides(moves[i], tensor) for i, slot, tensor in point.active if slot.member < 0 and i in moves
    }
    return [own.get(place) for place in range(len(point.after))]
