"""The checks of one operator's formulas at one sample. Each yields what it finds wrong."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad

from gradmill.extensions.verify.child.call_at_sample import Point, Slope, along, expands, fitted, inner, normal, unfit
from gradmill.extensions.verify.child.calls import SEED, Function, Gradients, is_float, mapped, tensors
from gradmill.extensions.verify.child.domains import EVERYWHERE
from gradmill.extensions.verify.child.formulas import (
    Args,
    FormulaError,
    Formulas,
    NotImplementedFormula,
    dual,
    primal,
    tangent,
)

Moves = Mapping[int, Tensor]  # of slots, by number
TangentsAt = dict[int, Tensor | None]  # of the differentiable outputs' members, by number, that have a formula
OPERATOR = "the operator"
SELF = "self"
_FEW_OUTPUTS = 4  # whose gradients are undefined in all combinations; of more, one, and all but one
_M_PERTURB = -6  # of mallopt
_MOST = 24  # elements along each of which an input is moved


class Finding(NamedTuple):
    """Something wrong: the check, the input or output that it is about, computed and expected values."""

    check: str
    name: str
    computed: str
    expected: str


class Lacking(Exception):
    """An error of a check of second derivatives: the formula, or one of an operator that it calls, is not
    differentiable."""


class Inapplicable(Exception):
    """A check that has nothing to do at a sample, or that cannot be done there: why."""


def gradient(point: Point) -> Iterator[Finding]:
    """The gradients next to finite differences of the outputs; their shapes and types as the engine demands them. Along
    each element, and in directions: in one to the precision of a smooth operator, and where equal elements move
    together, also those of different inputs."""
    returned = point.gradients(fit=False)
    computed = [fitted(each, slot.tensor) for each, slot in zip(returned, point.slots)]
    is_wrong = False
    generator = torch.Generator().manual_seed(5)
    for i, slot in point.implemented:
        problem = unfit(returned[i], slot.tensor)
        if problem:
            is_wrong = True
            yield Finding("gradient", slot.title, *problem)
            continue
        directions = (("", point.moves[i]), ("", slot.tensor.detach()), ("", torch.ones_like(slot.tensor)))
        for place, direction in (*_units(slot.tensor, _MOST, generator), *directions):
            moves = {i: point.along(slot, direction)}
            wanted, digits = point.slope(moves) if direction.isfinite().all() else None, 6
            if direction is point.moves[i] and wanted is not None:
                coarse, wanted, digits = wanted, point.slope(moves, fine=True), 9
                wanted = wanted if wanted is not None and coarse.fits(wanted.low) else None
            found = list(decided("gradient", f"{slot.title}{place}", along(computed, moves), wanted, digits))
            if found:
                is_wrong = True
                yield from found
                break
    if not is_wrong and len(point.implemented) > 1:
        moves = {i: point.along(slot, torch.ones_like(slot.tensor)) for i, slot in point.implemented}
        names = " and ".join(dict.fromkeys(slot.name for _, slot in point.implemented))
        yield from decided("gradient", names, along(computed, moves), point.slope(moves))


def _units(tensor: Tensor, most: int, generator: torch.Generator) -> Iterator[tuple[str, Tensor]]:
    """Directions in which a tensor may move: along each element, whose place is the name, also the imaginary axis, if
    there are at most `most`; else random ones."""
    factors = (1.0, 1.0j) if tensor.is_complex() else (1.0,)
    if tensor.numel() * len(factors) > most:
        for _ in range(4):
            yield "", normal(tensor, generator)
        return
    for place in itertools.product(*map(range, tensor.shape)):
        for factor in factors:
            unit = torch.zeros(tensor.shape, dtype=tensor.dtype)
            unit[place] = torch.tensor(factor, dtype=tensor.dtype)
            yield str(list(place)) if place else "", unit


def memory(point: Point) -> Iterator[Finding]:
    """The gradients and tangents for different contents of memory that is allocated or freed: the same. So are the
    outputs, or the operator is to blame: a finding of `OPERATOR`."""
    computed: list[list[tuple[str, Tensor | None]]] = []
    for byte in (0x40, 0x7F):
        torch.default_generator.manual_seed(SEED)
        with _poisoned(byte):
            outputs = [(OPERATOR, each) for each in tensors(point.outputs(point.run(point.args)[0]))]
            computed.append([*outputs, *derivatives(point)])
    for (name, first), (_, other) in zip(*computed):
        if not same(first, other):
            yield Finding("memory", name, shown(first), shown(other))


@contextmanager
def _poisoned(byte: int) -> Iterator[None]:
    """Has all memory filled, with a byte when it is allocated and with another one when it is freed, where the C
    library can do that."""
    perturb = getattr(ctypes.CDLL(None), "mallopt", lambda option, value: None)
    perturb(_M_PERTURB, byte ^ 0xFF)
    try:
        yield
    finally:
        perturb(_M_PERTURB, 0)


def derivatives(point: Point) -> Iterator[tuple[str, Tensor | None]]:
    """The gradients and tangents, each with the name of the input or output."""
    if point.formulas.has_backward:
        yield from ((slot.title, each) for slot, each in zip(point.slots, point.gradients()))
    if point.formulas.tangents:
        yield from ((point.titles[number], each) for number, each in tangents_at(point, point.moves).items())


def recorded(point: Point) -> Iterator[Finding]:
    """The gradients if a graph of them is recorded: the same."""
    return _differences("gradient if a graph is recorded", point, point.gradients(graph=True), point.gradients())


def unread(point: Point) -> Iterator[Finding]:
    """The gradients of outputs that no formula reads, next to finite differences: they are zero."""
    pairs = list(zip(point.complete, point.cotangents))
    if not any(whole is not None and read is None for whole, read in pairs):
        raise Inapplicable
    alone = [None if whole is None else whole if read is None else torch.zeros_like(whole) for whole, read in pairs]
    computed = point.gradients(cotangents=alone)
    for i, slot in point.implemented:
        moves = {i: point.moves[i]}
        yield from decided("gradient of other outputs", slot.title, along(computed, moves), point.slope(moves, alone))


def lower(point: Point) -> Iterator[Finding]:
    """The gradients and tangents of the same call in lower precision: the same to that precision, or to that of torch's
    own; and no error."""
    whole = point.gradients() if point.formulas.has_backward else []
    for dtype, tolerance in _LOWER.items():
        low = _lower(point, dtype)
        if low is None:
            continue
        pairs = zip(point.cotangents, low.outputs(low.results))
        cotangents = [None if a is None or b is None else a.to(b.dtype) for a, b in pairs]
        if point.formulas.tangents and not point.is_ambiguous:
            tangents_at(low, low.moves)
        computed = low.gradients(cotangents=cotangents) if point.formulas.has_backward else []
        torchs = _lower(point.torchs, dtype) if point.torchs is not None and computed else None
        exact: Gradients = []
        if torchs is not None:
            with suppress(FormulaError):
                exact = torchs.gradients(cotangents=cotangents)
        for slot, own, wanted, theirs in zip(point.slots, computed, whole, exact or [None] * len(computed)):
            if own is None or wanted is None or not wanted.numel() or not wanted.isfinite().all():
                continue
            largest = wanted.abs().max()
            room = tolerance * (1 + largest)
            if theirs is not None:
                off = (theirs - wanted).abs().max()
                room = torch.fmin(room, _EXACT * (torch.finfo(dtype).eps * largest + off))
            if not bool(((own - wanted).abs() <= room).all()):
                name = str(dtype).removeprefix("torch.")
                yield Finding(f"gradient if all is {name}", slot.title, shown(own), shown(wanted))


_LOWER = {torch.float32: 1e-3, torch.bfloat16: 0.2}  # with what a gradient may be off, relative to its largest element
_EXACT = 32  # how many times as inexact as torch's own it may be


def _lower(point: Point, dtype: torch.dtype) -> Point | None:
    """The same call with real numbers of a type; None if the operator has no kernel for it."""
    types = {torch.float64: dtype, torch.complex128: torch.complex64}
    try:
        return Point(point.formulas, mapped(lambda each: each.to(types.get(each.dtype, each.dtype)), point.args))
    except Exception:
        return None


def masks(point: Point) -> Iterator[Finding]:
    """The gradients if only some inputs need one: those that need it have the same."""
    needs = point.needs
    wanted = [i for i, needed in enumerate(needs) if needed]
    whole = point.gradients()
    for chosen in itertools.chain.from_iterable(itertools.combinations(wanted, n) for n in range(1, len(wanted))):
        part = point.gradients([i in chosen for i in range(len(needs))])
        names = [point.formulas.inputs[i] for i in chosen]
        yield from _differences(f"gradient if only {', '.join(names)} needs one", point, part, whole, names)


def undefined(point: Point) -> Iterator[Finding]:
    """The gradients if some outputs' gradients are undefined: those with zeros in their place. The engine calls no Node
    without any gradient."""
    known = [i for i, each in enumerate(point.cotangents) if each is not None]
    counts = range(1, len(known)) if len(known) <= _FEW_OUTPUTS else (1, len(known) - 1)
    for missing in itertools.chain.from_iterable(itertools.combinations(known, count) for count in counts):
        absent = [None if i in missing else each for i, each in enumerate(point.cotangents)]
        pairs = zip(point.cotangents, absent)
        zeros = [torch.zeros_like(each) if each is not None and left is None else each for each, left in pairs]
        name = ", ".join(point.titles[each] for each in missing)
        try:
            part = point.gradients(cotangents=absent)
        except NotImplementedFormula:
            raise
        except FormulaError as error:
            yield Finding("undefined gradient", name, f"the error: {first_line(error)}", "none")
            continue
        whole = point.gradients(cotangents=zeros)
        # Zero by nan is nan, where an undefined gradient is left out.
        whole = [own if each is not None and each.isnan().any() else each for each, own in zip(whole, part)]
        yield from _differences(f"gradient if that of {name} is undefined", point, part, whole)


def written(point: Point) -> Iterator[Finding]:
    """The gradients of in-place variants next to finite differences of these. Inapplicable if no variant takes the
    arguments."""
    formulas, own = point.formulas, dict(zip(point.formulas.arguments, point.args)).get(SELF)
    variants: list[tuple[str, Point]] = []
    if isinstance(own, Tensor) and is_float(own) and point.domain is EVERYWHERE:
        for name, function in formulas.in_place if SELF not in formulas.not_implemented else ():
            with suppress(Exception):  # whatever it raises: most refuse what would change the shape or type
                variant = Point(_in_place(formulas, function), point.args)
                (result,) = variant.results
                if isinstance(result, Tensor) and (result.shape, result.dtype) == (own.shape, own.dtype):
                    variants.append((name, variant))
    if not variants:
        raise Inapplicable
    for name, variant in variants:
        for finding in gradient(variant):
            lacks = "" if SELF in formulas.inputs else ", as self has no formula"
            check, computed = f"gradient where {name} writes into a view", f"{finding.computed}{lacks}"
            yield finding._replace(check=check, computed=computed)


def _in_place(formulas: Formulas, function: Function) -> Formulas:
    """The formulas of an in-place function. Where `self` has none, the engine takes the Node's first gradient for that
    of the view which is written to."""
    variant = copy(formulas)
    variant.function = function
    if SELF in formulas.inputs:
        return variant

    def gradients(args: Args, results: Sequence[Any], cotangents: Gradients, needs: Sequence[bool]) -> Gradients:
        found = formulas.gradients(args, results, cotangents, needs[1:])
        return [*found[:1], *found]

    variant.inputs = [SELF, *formulas.inputs]
    variant.places = [formulas.arguments.index(name) for name in variant.inputs]
    if not formulas.is_torchs:
        variant.gradients = gradients  # type: ignore[method-assign]
    return variant


def _differences(
    check: str, point: Point, got: Gradients, wanted: Gradients, names: Sequence[str] | None = None
) -> Iterator[Finding]:
    """The slots, of these inputs or all, whose gradients differ, as the engine passes them on."""
    for slot, one, other in zip(point.slots, got, wanted):
        if (names is None or slot.name in names) and not same(one, other):
            yield Finding(check, slot.title, shown(one), shown(other))


def layout(point: Point) -> Iterator[Finding]:
    """The gradients if those of the outputs have their dimensions in the opposite order in memory, and are conjugated
    when they are read: the same."""

    def moved(tensor: Tensor) -> Tensor:
        order = tuple(range(tensor.dim()))[::-1]
        return tensor.conj().resolve_conj().permute(order).contiguous().permute(order).conj()

    if any(each is not None and (each.dim() > 1 or each.is_complex()) for each in point.cotangents):
        got, wanted = point.gradients(cotangents=mapped(moved, point.cotangents)), point.gradients()
        yield from _differences("gradient if that of the output is not contiguous", point, got, wanted)


def tangents(point: Point) -> Iterator[Finding]:
    """The tangents of outputs for the tangent of each input, and of all, next to finite differences; and forward mode
    next to reverse mode."""
    sets = [(i,) for i in point.moves] if len(point.moves) > 1 else []
    for chosen in (*sets, tuple(point.moves)):
        moves = {i: point.moves[i] for i in chosen}
        given = point.of_arguments(moves)
        computed = tangents_at(point, moves, given)
        check = f"tangent for that of {', '.join(point.slots[i].title for i in chosen)}"
        partial = point.is_partial or len(chosen) < len(point.slots)
        if point.is_ambiguous:  # all together: by what they make of the loss
            own = [computed.get(number) for number in range(len(point.cotangents))]
            yield from decided(check, point.formulas.outputs[0], inner(point.cotangents, own), point.slope(moves))
            return
        for finding in _compared(check, point, computed, moves):
            # Torch has efficient zeros in place of other tangents: these times inf are zero, here they are nan.
            if not (partial and finding.computed == "nan"):
                yield finding
    yield from _shared_memory(point, given, computed)


def _shared_memory(point: Point, given: Sequence[Tensor | None], computed: TangentsAt) -> Iterator[Finding]:
    """The tangents in the memory of an input's, where the output is not in that of an input: who writes to the output
    changes the input's tangent. An in-place function's is meant to be; torch copies one with other strides. The
    generator gives a copy of a view the view's formula, which may be in that memory."""
    if point.formulas.overwrites or point.formulas.name.endswith("_copy"):
        return
    outputs, inputs = point.outputs(point.results), list(tensors(point.after))
    for number, own in computed.items():
        output = outputs[number]
        if own is None or output is None or (own.shape, own.dtype) != (output.shape, output.dtype) or not own.numel():
            continue
        if torch._debug_has_internal_overlap(output) or any(_share_memory(output, each) for each in inputs):
            continue
        with forward_ad.dual_level():
            kept = tangent(dual(output.detach(), own))
        place = next((i for i, each in enumerate(given) if _share_memory(kept, each)), None)
        if place is not None:
            yield Finding("shared memory", point.titles[number], point.formulas.arguments[place], "")
            return


def _share_memory(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None or not one.layout == other.layout == torch.strided:
        return False
    return bool(torch._C._is_alias_of(one, other))  # type: ignore[attr-defined]


def tangents_at(point: Point, moves: Moves, given: Sequence[Tensor | None] | None = None) -> TangentsAt:
    """The tangents of the differentiable outputs' members for those of slots. `given`: the same for each argument."""
    with torch.no_grad(), forward_ad.dual_level():
        computed = point.tangents(moves, given)
        found = (
            (number, computed[name][place]) for number, (name, place) in enumerate(point.members) if name in computed
        )
        return {number: None if each is None else primal(each) for number, each in found}


def _compared(check: str, point: Point, computed: TangentsAt, moves: Moves) -> Iterator[Finding]:
    """The outputs' tangents next to finite differences along `moves`."""
    outputs = point.outputs(point.results)
    for number, own in computed.items():
        output, title = outputs[number], point.titles[number]
        if output is None or not is_float(output):
            continue
        if own is not None and not expands(own.shape, output.shape):
            yield Finding(check, title, f"a tangent of shape {list(own.shape)}", f"{list(output.shape)}")
            continue
        generator = torch.Generator().manual_seed(7)
        for weight in (point.draw(output, generator) for _ in range(2)):
            value = inner([weight], [None if own is None else own.expand_as(output)])
            yield from decided(check, title, value, point.slope(moves, point.only(number, weight)))


def decided(check: str, name: str, value: float, wanted: Slope | None, digits: int = 6) -> Iterator[Finding]:
    """A derivative that finite differences contradict."""
    if wanted is not None and wanted.contradicts(value):
        low, high = number_of(wanted.low, digits), number_of(wanted.high, digits)
        expected = f"between {low} and {high}" if wanted.is_kink else low
        yield Finding(check, name, number_of(value, digits), expected)


def same(first: Tensor | None, second_: Tensor | None) -> bool:
    """Whether two gradients are the same; an undefined one is zero."""
    if first is None or second_ is None:
        other = second_ if first is None else first
        return other is None or not bool(other.to(torch.complex128).abs().nan_to_num(1).any())
    return first.shape == second_.shape and torch.allclose(
        first.detach().to(torch.complex128), second_.detach().to(torch.complex128), 1e-6, 1e-8, equal_nan=True
    )


def shown(tensor: Tensor | None) -> str:
    """A gradient as text."""
    if tensor is None:
        return "undefined"
    values = tensor.detach().flatten()[:6].tolist()
    return f"[{', '.join(number_of(each) for each in values)}{', …' if tensor.numel() > 6 else ''}]"


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without what torch guesses of a missing kernel."""
    return str(error).strip().partition("\n")[0].partition(". This could be because")[0]


def number_of(value: float | complex, digits: int = 6) -> str:
    """A number as text."""
    if isinstance(value, (int, float)):
        return f"{value:.{digits}g}"
    return f"{value.real:.{digits}g}{value.imag:+.{digits}g}j"
