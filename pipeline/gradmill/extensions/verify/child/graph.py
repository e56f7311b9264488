"""The operator with its compiled backward formula in an autograd graph: for second derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from gradmill.extensions.verify.child.call_at_sample import Point, inner, with_strides
from gradmill.extensions.verify.child.calls import is_float, mapped, tensors
from gradmill.extensions.verify.child.formulas import Gradients, Tangents, dual, tangent


def apply(point: Point, own: Sequence[Tensor]) -> list[Any]:
    """The outputs, in a graph. `own`: the tensors of the slots with a gradient."""
    return _with(point.results, _Operator.apply(point, *own))  # type: ignore[no-untyped-call]


def _with(results: list[Any], others: Iterable[Tensor]) -> list[Any]:
    """Outputs with others in place of their tensors."""
    rest = iter(others)
    return list(mapped(lambda _: next(rest), results))


class _Operator(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, point: Point, *own: Tensor) -> tuple[Tensor, ...]:
        results = point.call(_filled(point, own, point.args))
        flat = list(tensors(results))
        flat = [each.clone() if each._is_view() or any(each is one for one in own) else each for each in flat]
        ctx.point, ctx.results, ctx.count = point, results, len(own)
        ctx.save_for_backward(*own, *flat)
        used = point.formulas.read if any(point.formulas.read) else point.formulas.differentiable
        wanted = [flag for result, flag in zip(results, used) for _ in tensors(result)]
        ctx.mark_non_differentiable(*(each for each, flag in zip(flat, wanted) if not flag))
        return tuple(flat)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> tuple[Tensor | None, ...]:
        point: Point = ctx.point
        own, results = ctx.saved_tensors[: ctx.count], _with(ctx.results, ctx.saved_tensors[ctx.count :])
        wanted = point.outputs(_with(ctx.results, cotangents))
        found = point.formulas.gradients(_filled(point, own, point.after), results, wanted, point.needs)
        return None, *(fitted(found[i], tensor) for (i, _, _), tensor in zip(point.active, own))


def fitted(gradient: Tensor | None, tensor: Tensor) -> Tensor | None:
    """A gradient as the engine passes it on: summed to the input's shape."""
    if gradient is None or gradient.shape == tensor.shape:
        return gradient
    return gradient.sum_to_size(tensor.shape)


def _filled(point: Point, own: Iterable[Tensor], args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments with these tensors in the slots that have a gradient."""
    return point.filled(args, dict(zip(point.moves, own)))


def second(point: Point, weights: Sequence[Tensor]) -> tuple[list[Tensor | None], list[Tensor | None]]:
    """The gradients of the inner product of the gradients with `weights`: of the inputs with a gradient and of the
    cotangents."""
    own = [tensor.detach().clone().requires_grad_() for _, _, tensor in point.active]
    pairs = [
        (out, w.clone().requires_grad_())
        for out, w in zip(point.outputs(apply(point, own)), point.cotangents)
        if w is not None and out is not None and out.requires_grad
    ]
    roots, cotangents = [out for out, _ in pairs], [w for _, w in pairs]
    first = torch.autograd.grad(roots, own, cotangents, create_graph=True, allow_unused=True)
    found = _gradients(first, weights, [*own, *cotangents])
    return found[: len(own)], found[len(own) :]


def _gradients(
    values: Iterable[Tensor | None], weights: Iterable[Tensor], inputs: Sequence[Tensor]
) -> list[Tensor | None]:
    """The gradients of values' inner product with `weights`."""
    pairs = [(each, w) for each, w in zip(values, weights) if each is not None and each.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    return list(torch.autograd.grad([each for each, _ in pairs], inputs, [w for _, w in pairs], allow_unused=True))


def dual_gradients(point: Point, moves: Mapping[int, Tensor]) -> list[Tensor | None]:
    """The tangents of the gradients, for tangents of the slots, and those of the cotangents that are equal to them:
    forward over reverse. With tangents for all of them torch needs no meta kernels, whose import takes a second."""
    with forward_ad.dual_level():
        args, results = dual_results(point, moves)
        cotangents = [None if w is None else dual(w, w.clone()) for w in point.cotangents]
        gradients = point.formulas.gradients(args, results, cotangents, point.needs)
        return [None if each is None else tangent(each) for each in gradients]


def dual_results(point: Point, moves: Mapping[int, Tensor]) -> tuple[tuple[Any, ...], list[Any]]:
    """The arguments and the results as dual tensors, in a dual level. LookupError if an output has no formula."""
    tangents = tangents_of(point, moves)
    duals = [dual(tensor.detach().clone().requires_grad_(), moves[i]) for i, _, tensor in point.active]
    results: list[Any] = []
    flags = zip(point.formulas.outputs, point.results, point.formulas.differentiable)
    for name, result, differentiable in flags:
        if not differentiable or not any(map(is_float, tensors(result))):
            results.append(result)
            continue
        if name not in tangents:
            raise LookupError(f"'{name}' has no forward formula")
        results.append(mapped(partial(_with_next, iter(tangents[name])), result))
    return _filled(point, duals, point.after), results


def _with_next(tangents: Iterator[Tensor | None], tensor: Tensor) -> Tensor:
    move = next(tangents)
    return tensor if move is None else dual(tensor.detach().clone(), move)


def forward_of_tangents(point: Point, along: Mapping[int, Tensor], weights: Sequence[Tensor]) -> float:
    """The derivative of the tangents' inner product with `weights` as slots move along, forward over forward.
    LookupError for what cannot be done: members of lists carry the tangents themselves."""
    _refuse_lists(point)
    if point.formulas.is_torchs:
        return nested(point, along, weights)
    with torch.no_grad(), forward_ad.dual_level():
        args, results = dual_results(point, along)
        found = point.formulas.outputs_tangents(args, results, of_arguments(point, point.moves))
        return inner(weights, [None if each is None else tangent(each) for each in _defined(found)])


def nested(point: Point, along: Mapping[int, Tensor], weights: Sequence[Tensor]) -> float:
    """The same in functorch, as torch nests levels of forward mode: helpers ask for its tensors."""
    own, moves = tuple(tensor.detach().clone() for _, _, tensor in point.active), tuple(point.moves.values())

    def tangents(*tensors: Tensor) -> tuple[Tensor, ...]:
        if point.formulas.is_torchs:
            found: tuple[Tensor, ...] = torch.func.jvp(partial(_outputs, point), tensors, moves)[1]
            return found
        results, args = point.run(_filled(point, tensors, point.args))
        return _defined(point.formulas.outputs_tangents(args, results, of_arguments(point, point.moves)))

    with torch.no_grad():
        return inner(weights, torch.func.jvp(tangents, own, tuple(along.values()))[1])


def reverse_of_tangents(point: Point, along: Mapping[int, Tensor], weights: Sequence[Tensor]) -> float:
    """The same, reverse over forward."""
    _refuse_lists(point)
    if not point.formulas.has_backward:
        raise LookupError("the operator has no backward formula")
    own = [tensor.detach().clone().requires_grad_() for _, _, tensor in point.active]
    found: Gradients
    with torch.enable_grad(), forward_ad.dual_level():
        if point.formulas.is_torchs:
            found = [tangent(each) for each in _outputs(point, *map(dual, own, point.moves.values()))]
        else:
            args, results = _filled(point, own, point.after), apply(point, own)
            found = _defined(point.formulas.outputs_tangents(args, results, of_arguments(point, point.moves)))
        return inner(_gradients(found, weights, own), list(along.values()))


def _refuse_lists(point: Point) -> None:
    if any(slot.member >= 0 for slot in point.slots):
        raise LookupError("a list of tensors")


def _defined(tangents: Tangents) -> tuple[Tensor, ...]:
    return tuple(each for members in tangents.values() for each in members if each is not None)


def _outputs(point: Point, *own: Tensor) -> tuple[Tensor, ...]:
    """The outputs by torch's operator that have formulas for tangents."""
    names = {name for each in point.formulas.tangents for name in each["outputs"]}
    found = point.formulas.listed(point.formulas.function(_filled(point, own, point.args))[0])
    return tuple(each for name, each in zip(point.formulas.outputs, found) if len(found) == 1 or name in names)


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
