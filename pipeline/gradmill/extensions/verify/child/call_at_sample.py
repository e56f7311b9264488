"""An operator at one sample: its outputs, the loss that is differentiated, and finite differences of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gradmill.extensions.verify.child.calls import SEED, Gradients, is_float, is_list, members_of, tracked, weighted
from gradmill.extensions.verify.child.domains import EVERYWHERE, domain
from gradmill.extensions.verify.child.formulas import Args, Formulas, Tangents, dual

STEP = 1e-6  # of finite differences, in float64
_WIDE = 256 * STEP  # of those that confirm what others contradict
_AGREE = 2  # how many times as far from a value one of the two may be as the other
_FINE_STEPS = (1e-3, 1e-4)  # of those that are extrapolated
_FINE = 1e-7  # their relative difference where a function is smooth
_EPSILON = 2.0**-52
_ROUNDINGS = 4  # of a function's value
_KINK = 1e-3  # relative difference of one-sided differences: the function is not smooth there
_JUMP = 1e3  # a difference that is not a derivative: the function is not continuous there


class Slot(NamedTuple):
    """A tensor that has a gradient: its number among the members of all inputs, the place of its argument, its place in
    the list (-1: no list)."""

    number: int
    name: str
    place: int
    member: int
    tensor: Tensor

    @property
    def title(self) -> str:
        """The name, with the place in a list."""
        return self.name if self.member < 0 else f"{self.name}[{self.member}]"


class Slope(NamedTuple):
    """A directional derivative by finite differences: the bounds of it, which differ at a kink, and how inexact they
    are. `wide`: the bounds by a wide step; None if the others are enough."""

    low: float
    high: float
    room: float
    wide: Callable[[], tuple[float, float]] | None = None

    def fits(self, value: float) -> bool:
        """Whether a computed derivative is within the bounds."""
        return self._distance(value) <= self.room

    def _distance(self, value: float) -> float:
        return max(self.low - value, value - self.high, 0.0) if value == value else float("inf")

    def contradicts(self, value: float) -> bool:
        """Whether a computed derivative is out of the bounds, by both steps about as far: differences of what is
        inexact, jumps, or has a pole decide nothing, nor do those that get closer to it with the step."""
        near = self._distance(value)
        if near <= self.room or self.wide is None or near == float("inf"):
            return near > self.room
        far = Slope(*self.wide(), self.room)._distance(value)
        return far > self.room and near / _AGREE <= far <= near * _AGREE

    @property
    def is_kink(self) -> bool:
        """Whether the bounds differ."""
        return self.high > self.low


class Point:
    """An operator at a sample. `complete`: a cotangent for each member of the differentiable outputs; `cotangents`: the
    same without those that no formula reads; `moves`: a direction for each slot, by its number here; `torchs`: torch's
    own formulas at the sample; `ones`: whether cotangents and directions are that, and not random. Raises what the
    operator raises."""

    def __init__(self, formulas: Formulas, args: Args, torchs: Point | None = None, *, ones: bool = False) -> None:
        self.formulas, self.torchs = formulas, torchs
        self.draw = (lambda like, _: torch.ones(like.shape, dtype=like.dtype)) if ones else normal
        named = dict(zip(formulas.arguments, args))
        self.domain = domain(formulas.operator, named) or EVERYWHERE
        inside = self.domain.project
        self.args = tuple(inside(name, each) if isinstance(each, Tensor) else each for name, each in named.items())
        self.results, self.after = self.run(self.args)
        members = [
            (name, place, member if is_list(self.args[place]) else -1, tensor)
            for name, place in zip(formulas.inputs, formulas.places)
            for member, tensor in enumerate(members_of(self.args[place]))
        ]
        self.slots = [
            Slot(i, name, place, member, tensor)
            for i, (name, place, member, tensor) in enumerate(members)
            if tensor is not None and is_float(tensor)
        ]
        self.is_partial = len(self.slots) < len(members)  # whether inputs have no gradient
        generator = torch.Generator().manual_seed(zlib.crc32(formulas.name.encode()))
        self.complete = [self._weight(each, generator) for each in self.outputs(self.results)]
        if self.is_ambiguous:
            self._weights = [self._weight(each, generator) for each in self._unique(self.outputs(self.results))]
            known = [each for each in self.outputs(self.results) if each is not None]
            outputs = [each.detach().requires_grad_(is_float(each)) for each in known]
            with torch.enable_grad():  # the gradients of the loss of invariants by the outputs
                self.cotangents = self.complete = weighted(self._unique(outputs), self._weights, outputs)
        else:
            # A formula that reads no gradient is one of zeros.
            used = formulas.read if any(formulas.read) else formulas.differentiable
            read = [flag for each, flag in self._differentiable(self.results, used) for _ in members_of(each)]
            self._weights = self.cotangents = [w if flag else None for w, flag in zip(self.complete, read)]
        self.moves = {i: self.along(slot, self.draw(slot.tensor, generator)) for i, slot in enumerate(self.slots)}

    def _weight(self, output: Tensor | None, generator: torch.Generator) -> Tensor | None:
        return self.draw(output, generator) if output is not None and is_float(output) else None

    @property
    def implemented(self) -> list[tuple[int, Slot]]:
        """The slots whose formula is one, each with its number."""
        return [(i, slot) for i, slot in enumerate(self.slots) if slot.name not in self.formulas.not_implemented]

    @cached_property
    def is_smooth(self) -> bool:
        """Whether the operator is: differences in the directions of the slots, and in two whose sum is theirs, add up
        to those of all, without kinks."""
        whole = self.slope(self.moves)

        def add_up(parts: Sequence[Mapping[int, Tensor]]) -> bool:
            slopes = [self.slope(moves) for moves in parts]
            lows = [slope.low for slope in slopes if slope is not None and not slope.is_kink]
            return whole is not None and len(lows) == len(slopes) and whole.fits(sum(lows))

        generator = torch.Generator().manual_seed(11)
        one = {i: self.along(slot, normal(slot.tensor, generator)) for i, slot in enumerate(self.slots)}
        other = {i: move - one[i] for i, move in self.moves.items()}
        each = [{i: move} for i, move in self.moves.items()]
        return whole is not None and not whole.is_kink and add_up(each) and add_up([one, other])

    def along(self, slot: Slot, direction: Tensor) -> Tensor:
        """A direction in which a slot stays in the operator's domain."""
        return self.domain.tangent(slot.name, direction)

    @property
    def is_ambiguous(self) -> bool:
        """Whether the outputs are determined only up to a symmetry: the loss is one of invariants of them."""
        return self.domain.unique is not None

    def _unique(self, outputs: Gradients) -> list[Tensor | None]:
        """What is unique in the differentiable outputs."""
        known = tuple(each for each in outputs if each is not None)
        return list(self.domain.invariants(known) if self.is_ambiguous else outputs)

    def run(self, args: Args) -> tuple[list[Any], Args]:
        """The operator's outputs, and the arguments after the call; of a random operator the same each time."""
        torch.default_generator.manual_seed(SEED)
        return self.formulas.call(args)

    def outputs(self, results: Sequence[Any]) -> list[Tensor | None]:
        """The members of the differentiable outputs, flat; None for an undefined one."""
        return [each for result, _ in self._differentiable(results, results) for each in members_of(result)]

    def _differentiable(self, results: Sequence[Any], facts: Sequence[Any]) -> list[tuple[Any, Any]]:
        """The differentiable outputs, each with a fact about it."""
        flags = self.formulas.differentiable
        return [(result, fact) for result, fact, flag in zip(results, facts, flags) if flag]

    @property
    def needs(self) -> list[bool]:
        """Whether each input has a gradient, which is implemented."""
        needed = {slot.place for _, slot in self.implemented}
        return [place in needed for place in self.formulas.places]

    def gradients(
        self,
        needs: Sequence[bool] | None = None,
        cotangents: Gradients | None = None,
        args: Args | None = None,
        results: Sequence[Any] | None = None,
        *,
        graph: bool = False,
        fit: bool = True,
    ) -> Gradients:
        """The gradients of the slots by the formulas, by default of this point, as the engine passes them on. Helpers
        of formulas ask saved inputs whether they require a gradient. `graph`: whether one is recorded, as with
        `create_graph`; `fit`: if not, they are as the formulas return them."""
        args, results = args or self.after, self.results if results is None else results
        cotangents, needs = self.cotangents if cotangents is None else cotangents, needs or self.needs
        needed = {place for place, flag in zip(self.formulas.places, needs) if flag}
        own = tuple(tracked(each) if i in needed else each for i, each in enumerate(args))
        with torch.set_grad_enabled(graph):
            found = self.formulas.gradients(own, results, cotangents, needs)
            pairs = [(found[slot.number], slot.tensor) for slot in self.slots]
            return [fitted(*each) if fit else each[0] for each in pairs]

    def filled(self, args: Sequence[Any], tensors: Mapping[int, Tensor | None]) -> Args:
        """Arguments with other tensors in some slots, by the slot's number."""
        args = [list(each) if isinstance(each, (list, tuple)) else each for each in args]
        for number, tensor in tensors.items():
            slot = self.slots[number]
            if slot.member < 0:
                args[slot.place] = tensor
            else:
                args[slot.place][slot.member] = tensor
        return tuple(args)

    def moved(self, moves: Mapping[int, Tensor], step: float) -> Args:
        """The arguments with a step along a tensor added to some slots, by the slot's number."""
        pairs = ((i, self.slots[i].tensor, move * step) for i, move in moves.items())
        return self.filled(self.args, {i: with_strides(tensor.detach() + move, tensor) for i, tensor, move in pairs})

    def _loss(self, moves: Mapping[int, Tensor], step: float, weights: Gradients | None = None) -> float:
        """The real part of the inner product of weights and what is unique in the outputs; nan where shapes differ."""
        outputs = self._unique(self.outputs(self.run(self.moved(moves, step))[0]))
        return inner(self._weights if weights is None else weights, outputs)

    def ignores(self, moves: Mapping[int, Tensor]) -> bool:
        """Whether a step of a hundredth along a direction leaves the outputs as they are."""
        return self._loss(moves, 0.01) == self._loss(moves, 0.0)

    def tangents(self, moves: Mapping[int, Tensor], given: Sequence[Tensor | None] | None = None) -> Tangents:
        """The tangents of the outputs by the forward formulas for those of slots, in a dual level; an in-place
        function's output has the name `self`. `given`: those of the arguments."""
        listed = ((i, move) for i, move in moves.items() if self.slots[i].member >= 0)
        own = {i: dual(self.slots[i].tensor.detach().clone(), move) for i, move in listed}
        given = self.of_arguments(moves) if given is None else given
        computed = self.formulas.outputs_tangents(self.filled(self.after, own), self.results, given)
        names = self.formulas.outputs
        return {names[0] if name == "result" and len(names) == 1 else name: each for name, each in computed.items()}

    def of_arguments(self, moves: Mapping[int, Tensor]) -> list[Tensor | None]:
        """The tangent of each argument that is a tensor."""
        single = ((self.slots[i], move) for i, move in moves.items() if self.slots[i].member < 0)
        own = {slot.place: with_strides(move, slot.tensor) for slot, move in single}
        return [own.get(place) for place in range(len(self.after))]

    def slope(
        self, moves: Mapping[int, Tensor], weights: Gradients | None = None, *, fine: bool = False
    ) -> Slope | None:
        """The derivative of the loss in a direction; None where finite differences do not decide it. `weights`: other
        ones of the differentiable outputs' members."""
        loss = partial(self._loss, moves, weights=weights)
        # At a kink of several elements, the derivative need not be between the one-sided ones.
        is_single = sum(int(move.count_nonzero()) for move in moves.values()) == 1
        return fine_slope(loss) if fine else slope(loss, is_single)

    def only(self, number: int, weight: Tensor) -> list[Tensor | None]:
        """Weights that count one of the differentiable outputs' members alone."""
        return [weight if each == number else None for each in range(len(self.complete))]

    @property
    def members(self) -> list[tuple[str, int]]:
        """Of each of the differentiable outputs' members the output's name, and the place in it."""
        pairs = self._differentiable(self.results, self.formulas.outputs)
        return [(name, place) for result, name in pairs for place in range(len(members_of(result)))]

    @property
    def titles(self) -> list[str]:
        """What each of them is called."""
        listed = {name for result, name in self._differentiable(self.results, self.formulas.outputs) if is_list(result)}
        return [f"{name}[{place}]" if name in listed else name for name, place in self.members]


def slope(function: Any, single: bool) -> Slope | None:
    """The derivative of a function of a step at zero; None where it cannot be decided. `single`: whether
    only one element moves."""
    zero, after, before = function(0.0), function(STEP), function(-STEP)
    right, left = (after - zero) / STEP, (zero - before) / STEP
    central = (after - before) / (2 * STEP)
    if not all(abs(each) < float("inf") for each in (right, left)):
        return None
    if abs(central) > _JUMP and abs(function(2 * STEP) - after) < 0.5 * abs(after - zero):  # the same to both sides
        return None
    noise = _ROUNDINGS * _EPSILON * max(abs(after), abs(before)) / STEP
    room = 1e-5 + 1e-4 * max(abs(right), abs(left)) + noise
    is_kink = abs(right - left) > _KINK * (1 + abs(central)) + noise
    if is_kink and (not single or max(abs(right), abs(left)) > _JUMP):
        return None
    low, high = sorted((right, left)) if is_kink else (central, central)
    return Slope(low, high, room, partial(_bounds, function, _WIDE, is_kink=is_kink))


def _bounds(function: Any, step: float, *, is_kink: bool) -> tuple[float, float]:
    """Those of the derivative of a function at zero by differences with a step: one-sided ones at a kink."""
    zero, after, before = function(0.0), function(step), function(-step)
    sides = (after - zero) / step, (zero - before) / step
    return (min(sides), max(sides)) if is_kink else (sum(sides) / 2,) * 2


def fine_slope(function: Any) -> Slope | None:
    """The derivative of a smooth function of a step at zero, to some ten digits: extrapolated from differences with two
    steps. None where it cannot be decided to half of them."""

    def extrapolated(step: float) -> tuple[float, float]:
        near, far = ([function(sign * size) for sign in (1, -1)] for size in (step, 2 * step))
        noise = _ROUNDINGS * _EPSILON * max(map(abs, (*near, *far))) / step
        return (8 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * step), noise

    (wide, _), (narrow, noise) = map(extrapolated, _FINE_STEPS)
    difference = abs(wide - narrow)
    if not difference <= _FINE * (1 + abs(narrow)):  # nan as well
        return None
    return Slope(narrow, narrow, 1e-9 + _FINE * abs(narrow) + 10 * (difference + noise))


def with_strides(value: Tensor, like: Tensor) -> Tensor:
    """A copy with the strides of another tensor, as its tangent has; contiguous if its elements share memory."""
    if any(stride == 0 and size > 1 for stride, size in zip(like.stride(), like.shape)):
        return value.clone(memory_format=torch.contiguous_format)
    zeros: Tensor = torch.ops.aten._new_zeros_with_same_feature_meta(value, like)
    return zeros.copy_(value)


def inner(first: Gradients, second: Gradients) -> float:
    """The real part of the inner product of two lists of tensors; None is zero. nan where their shapes differ."""
    total = 0.0
    for a, b in zip(first, second):
        if a is None or b is None:
            continue
        if a.shape != b.shape:
            return float("nan")
        product = a.conj() * b
        total += float(product.real.sum() if product.is_complex() else product.sum())
    return total


def normal(like: Tensor, generator: torch.Generator) -> Tensor:
    """Random numbers of a tensor's shape and type."""
    return torch.randn(like.shape, dtype=like.dtype, generator=generator)


def along(gradients: Gradients, moves: Mapping[int, Tensor]) -> float:
    """The derivative of the loss along moves of slots, by gradients."""
    return inner([gradients[i] for i in moves], list(moves.values()))


def fitted(gradient: Tensor | None, tensor: Tensor) -> Tensor | None:
    """A gradient as the engine passes it on: of the input's shape and type; None for one that it refuses."""
    if gradient is None or unfit(gradient, tensor):
        return None
    return (gradient if gradient.shape == tensor.shape else gradient.sum_to_size(tensor.shape)).to(tensor.dtype)


def unfit(gradient: Tensor | None, tensor: Tensor) -> tuple[str, str] | None:
    """What a gradient has that the engine refuses (torch: `validate_outputs`), and what it must have."""
    if gradient is None:
        return None
    if not is_float(gradient) or (gradient.is_complex() and not tensor.is_complex()):
        return f"a gradient of type {_type(gradient)}", _type(tensor)
    if not expands(tensor.shape, gradient.shape):
        return f"a gradient of shape {list(gradient.shape)}", f"{list(tensor.shape)}"
    return None


def _type(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def expands(shape: Sequence[int], to: Sequence[int]) -> bool:
    """Whether a tensor of a shape can be expanded to another one."""
    missing = len(to) - len(shape)
    return missing >= 0 and all(a in (1, b) for a, b in zip(shape, to[missing:]))
