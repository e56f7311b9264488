"""The checks of second derivatives: an operator with its formulas as functions that torch differentiates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from gradmill.extensions.verify.child import checks
from gradmill.extensions.verify.child.call_at_sample import Point, Slope, along, inner, normal, slope
from gradmill.extensions.verify.child.calls import Gradients, is_float, mapped, tensors, weighted
from gradmill.extensions.verify.child.checks import Finding, Inapplicable, Moves, decided, tangents_at
from gradmill.extensions.verify.child.formulas import Args, FormulaError, dual, tangent


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
        return None, *point.gradients(cotangents=point.outputs(_with(point.results, cotangents)))

    @staticmethod
    def jvp(ctx: Any, _: None, *moves: Tensor) -> tuple[Tensor | None, ...]:
        point: Point = ctx.point
        with forward_ad._set_fwd_grad_enabled(True):  # of members of lists, and of torch's own formulas
            found = {name: iter(each) for name, each in point.tangents(dict(zip(point.moves, moves))).items()}
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
    """The arguments with these tensors in the slots, and the results, as functions of them; in a
    graph without those whose gradient no formula reads."""
    own = tuple(own)
    results = _with(point.results, _Operator.apply(point, *own))  # type: ignore[no-untyped-call]
    if torch.is_grad_enabled() and any(point.formulas.read):
        pairs = zip(results, point.formulas.read)
        results = [each if flag else mapped(torch.Tensor.detach, each) for each, flag in pairs]
    return point.filled(point.after, dict(zip(point.moves, own))), results


def gradients(point: Point, *of: Tensor) -> Gradients:
    """The gradients, as a function of the slots' tensors and of the cotangents."""
    args, results = _called(point, of[: len(point.moves)])
    given = iter(of[len(point.moves) :])
    cotangents = [None if each is None else next(given) for each in point.cotangents]
    return point.gradients(cotangents=cotangents, args=args, results=results, graph=torch.is_grad_enabled())


def tangents(point: Point, *own: Tensor, nested: bool = False) -> tuple[Tensor | None, ...]:
    """The tangents along `point.moves`, as a function of the slots' tensors, in a dual level, which may be `nested` in
    functorch."""
    moves = tuple(point.moves.values())
    if not point.formulas.is_torchs:
        computed = point.formulas.outputs_tangents(*_called(point, own), point.of_arguments(point.moves))
        order = sorted(computed, key=point.formulas.outputs.index) if len(computed) > 1 else computed
        return tuple(each for name in order for each in computed[name] if each is not None)
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


def second(point: Point) -> Iterator[Finding]:
    """Second derivatives, reverse over reverse, next to finite differences of the gradients."""
    weights, own = _weights(point), [slot.tensor for slot in point.slots]
    known = [each for each in point.cotangents if each is not None]
    with _differentiating():
        found = reverse(partial(gradients, point), [*own, *known], weights)
    is_decided = True
    for i, slot in enumerate(point.slots):
        moves = {i: point.moves[i]}
        wanted = _slope_of_gradients(point, moves, 0.0, weights)
        is_decided &= wanted is not None
        yield from decided("second derivative", slot.title, along(found, moves), wanted)
    wanted = _slope_of_gradients(point, {}, 1.0, weights)
    yield from decided("second derivative", "grad", inner(found[len(own) :], known), wanted)
    if not is_decided:
        raise Inapplicable


@contextmanager
def _differentiating() -> Iterator[None]:
    """For what differentiates formulas: raises Inapplicable or Lacking in place of other errors."""
    try:
        yield
    except LookupError as error:
        raise Inapplicable(checks.first_line(error)) from None
    except (RuntimeError, NotImplementedError, FormulaError) as error:
        raise checks.Lacking(checks.first_line(error)) from None


def _weights(point: Point) -> list[Tensor]:
    """A direction for each slot, other than `point.moves`. Raises Inapplicable if they mean nothing."""
    if point.is_ambiguous:
        raise Inapplicable("the outputs are determined only up to a symmetry")
    generator = torch.Generator().manual_seed(3)
    return [point.along(slot, normal(slot.tensor, generator)) for slot in point.slots]


def _slope_of_gradients(point: Point, moves: Moves, grow: float, weights: Sequence[Tensor]) -> Slope | None:
    """The derivative of the gradients' inner product with `weights`, along moves of inputs, and as cotangents grow."""

    def value(step: float) -> float:
        results, after = point.run(point.moved(moves, step))
        cotangents = [None if each is None else each * (1.0 + step * grow) for each in point.cotangents]
        return inner(weights, point.gradients(cotangents=cotangents, args=after, results=results))

    return slope(value, single=False)


def forward_over_reverse(point: Point) -> Iterator[Finding]:
    """The tangents of the gradients, for those of the slots and those of the cotangents, which are equal to them, next
    to finite differences. With tangents for all of these torch needs no meta kernels, whose import takes a second."""
    weights = _weights(point)
    with _differentiating(), torch.no_grad(), forward_ad.dual_level():
        pairs = zip(point.slots, point.moves.values())
        own = [dual(slot.tensor.detach().clone(), move).requires_grad_() for slot, move in pairs]
        cotangents = [dual(each, each.clone()) for each in point.cotangents if each is not None]
        found = [None if each is None else tangent(each) for each in gradients(point, *own, *cotangents)]
    wanted = _slope_of_gradients(point, point.moves, 1.0, weights)
    if wanted is None:
        raise Inapplicable
    yield from decided("tangent of the gradient", "grad", inner(weights, found), wanted)


def of_tangents(point: Point) -> Iterator[Finding]:
    """The derivatives of the tangents, forward over forward and reverse over forward, next to finite differences of
    them. Inapplicable to lists, whose members carry tangents of their own."""
    if any(slot.member >= 0 for slot in point.slots):
        raise Inapplicable
    directions = dict(zip(point.moves, _weights(point)))
    computed = tangents_at(point, point.moves)
    generator = torch.Generator().manual_seed(13)
    weights = [normal(each, generator) for each in computed.values() if each is not None]

    def value(step: float) -> float:
        found = tangents_at(Point(point.formulas, point.moved(directions, step)), point.moves)
        return inner(weights, [each for each in found.values() if each is not None])

    if not weights or (wanted := slope(value, single=False)) is None:
        raise Inapplicable
    title, check = min(point.titles[number] for number in computed), "derivative of the tangent, {} over forward"
    own = tuple(slot.tensor.detach().clone() for slot in point.slots)
    with _differentiating(), suppress(LookupError):  # nested in functorch: helpers of formulas ask for its tensors
        with torch.no_grad():
            found = torch.func.jvp(partial(tangents, point, nested=True), own, tuple(directions.values()))[1]
        yield from decided(check.format("forward"), title, inner(weights, found), wanted)
    if point.formulas.has_backward:
        with _differentiating(), suppress(LookupError):
            with forward_ad.dual_level():
                derivatives = reverse(partial(tangents, point), own, weights)
            yield from decided(check.format("reverse"), title, along(derivatives, directions), wanted)
