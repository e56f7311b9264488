"""The formulas next to torch's own for the same operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.verify.child.checks import Finding, Skipped, same, shown
from pipeline.verify.child.formulas import FormulaError, NotImplementedFormula
from pipeline.verify.child.graph import fitted
from pipeline.verify.child.point import Point


def differences(point: Point, torchs: Point) -> Iterator[Finding]:
    """The gradients that differ from torch's. None of them is compared if torch's formula raises an error."""
    try:
        wanted = torchs.gradients(cotangents=point.complete)
    except FormulaError:
        return
    computed = point.gradients(cotangents=point.complete)
    for number, slot in enumerate(point.slots):
        if slot.tensor is None or not slot.has_gradient or slot.name in point.formulas.not_implemented:
            continue
        try:
            own, other = fitted(computed[number], slot.tensor), fitted(wanted[number], slot.tensor)
        except RuntimeError:
            continue
        if not same(own, other):
            yield Finding("torch's own", slot.title, shown(own), shown(other))
            return


def is_shared(check: Callable[[Point], Iterator[Finding]], torchs: Point) -> bool:
    """Whether torch's own formula has a finding of a check too, or raises an error; not if there is no such formula."""
    try:
        return bool(list(check(torchs)))
    except (Skipped, NotImplementedFormula):
        return False
    except Exception:
        return True
