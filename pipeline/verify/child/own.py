"""The formulas next to torch's own for the same operator."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from pipeline.verify.child.checks import Finding, Inapplicable, Skipped, same, shown, tangents_at
from pipeline.verify.child.formulas import FormulaError, NotImplementedFormula
from pipeline.verify.child.graph import fitted
from pipeline.verify.child.point import Point


def differences(point: Point, torchs: Point) -> Iterator[Finding]:
    """The gradients and tangents that differ from torch's. Those are not compared for which torch's formula raises an
    error."""
    if point.formulas.has_backward:
        with contextlib.suppress(FormulaError):
            wanted = torchs.gradients(cotangents=point.complete)
            yield from _gradients(point, wanted)
    if point.formulas.tangents and not point.is_ambiguous:
        with contextlib.suppress(FormulaError):
            wanted_tangents = tangents_at(torchs, point.directions)
            yield from _tangents(point, wanted_tangents)


def _gradients(point: Point, wanted: Sequence[Tensor | None]) -> Iterator[Finding]:
    computed = point.gradients(cotangents=point.complete)
    for number, slot, tensor in point.active:
        if slot.name in point.formulas.not_implemented:
            continue
        try:
            own, other = fitted(computed[number], tensor), fitted(wanted[number], tensor)
        except RuntimeError:
            continue
        if not same(own, other):
            yield Finding("torch's own", slot.title, shown(own), shown(other))
            return


def _tangents(point: Point, wanted: Mapping[str, Sequence[Tensor | None]]) -> Iterator[Finding]:
    partial = any(
        move is None for move in point.directions
    )  # torch's zeros of the others, times inf, are zero; ours are nan
    for name, members in tangents_at(point, point.directions).items():
        for own, other in zip(members, wanted.get(name, ())):
            if own is None or other is None or own.shape != other.shape or (partial and bool(own.isnan().any())):
                continue
            cast = own.real if own.is_complex() and not other.is_complex() else own  # as torch does with a tangent
            if not same(cast, other):
                yield Finding("torch's own tangent", name, shown(cast), shown(other))
                return


def is_shared(check: Callable[[Point], Iterator[Finding]], torchs: Point, *, errors: bool = False) -> bool:
    """Whether torch's own formula has a finding of a check too, or raises an error; `errors`: only the latter. No if
    torch has no such formula."""
    try:
        return bool(list(check(torchs))) and not errors
    except (Skipped, Inapplicable, NotImplementedFormula):
        return False
    except Exception:
        return True
