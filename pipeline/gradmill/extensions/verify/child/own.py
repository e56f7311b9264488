"""The formulas next to torch's own for the same operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

import torch
from torch import Tensor

from gradmill.extensions.verify.child import checks
from gradmill.extensions.verify.child.call_at_sample import Point, Slope, Slot, inner
from gradmill.extensions.verify.child.calls import tensors
from gradmill.extensions.verify.child.checks import Finding, Inapplicable, Lacking, first_line, same, shown, tangents_at
from gradmill.extensions.verify.child.domains import EVERYWHERE
from gradmill.extensions.verify.child.formulas import FormulaError, NotImplementedFormula, is_absent, lacks

Check = Callable[[Point], Iterator[Finding]]
ByDifferences = Callable[[Tensor], Slope | None]
# The title of an input or output, its derivative and torch's, the tensor that they are of or by, and differences.
Pair = tuple[str, Tensor | None, Tensor | None, Tensor, ByDifferences]
_MOST = 6  # elements that differ from torch's: whether differences decide


def differences(point: Point) -> Iterator[Finding]:
    """The gradients and tangents that differ from torch's, where finite differences do not decide for the former: the
    first one of each. Those are not compared for which torch's formula raises an error."""
    if point.torchs is None:
        raise Inapplicable
    for check, pairs in (("torch's own", _gradients), ("torch's own tangent", _tangents)):
        with suppress(FormulaError):
            for title, own, other, *_ in islice((each for each in pairs(point) if _differ(point, *each[1:])), 1):
                yield Finding(check, title, shown(own), shown(other))


def _gradients(point: Point) -> Iterator[Pair]:
    if point.torchs is None or not point.formulas.has_backward:
        return
    wanted = point.torchs.gradients(cotangents=point.complete)
    computed = point.gradients(cotangents=point.complete)
    for i, slot in point.implemented:

        def by_differences(unit: Tensor, i: int = i, slot: Slot = slot) -> Slope | None:
            return point.slope({i: point.along(slot, unit)}) if point.domain is EVERYWHERE else None

        yield slot.title, computed[i], wanted[i], slot.tensor, by_differences


def _tangents(point: Point) -> Iterator[Pair]:
    if point.torchs is None or not point.formulas.tangents or point.is_ambiguous:
        return
    wanted, outputs = tangents_at(point.torchs, point.moves), point.outputs(point.results)
    for number, own in tangents_at(point, point.moves).items():
        other, output = wanted.get(number), outputs[number]
        if own is None or other is None or output is None or own.shape != other.shape:
            continue

        def by_differences(unit: Tensor, number: int = number) -> Slope | None:
            return point.slope(point.moves, point.only(number, unit))

        # Torch's zeros of inputs without a tangent, times inf, are zero; ours are nan.
        if not (point.is_partial and bool(own.isnan().any())):
            cast = own.real if own.is_complex() and not other.is_complex() else own  # as torch does with a tangent
            yield point.titles[number], cast, other, output, by_differences


def _differ(point: Point, own: Tensor | None, other: Tensor | None, of: Tensor, by_differences: ByDifferences) -> bool:
    """Whether two derivatives of or by `of` differ where finite differences do not decide for `own`. They do not where
    neither is right or wrong: torch's is nan, both are infinite, `of` is nan, or complex numbers of the call are not
    finite."""
    if own is None or other is None or own.shape != other.shape or own.shape != of.shape:
        return not same(own, other)
    undecided = ~(own.isfinite() | other.isfinite()) | other.isnan() | of.isnan()
    if any(each.is_complex() and not each.isfinite().all() for each in tensors(point.args)):
        undecided |= ~(own.isfinite() & other.isfinite())
    own, other = own.masked_fill(undecided, 0), other.masked_fill(undecided, 0)
    if same(own, other):
        return False
    if own.dtype != of.dtype or other.dtype != of.dtype:
        return True
    apart = own - other
    places = ~(apart.abs() <= 1e-8 + 1e-6 * other.abs())
    for place in places.flatten().nonzero().flatten().tolist()[:_MOST]:
        unit = torch.zeros(of.shape, dtype=of.dtype)
        unit.view(-1)[place] = apart.flatten()[place].sgn().nan_to_num(1)
        wanted = by_differences(unit)
        if wanted is None or not wanted.fits(inner([own], [unit])) or wanted.fits(inner([other], [unit])):
            return True
    return False


def infinite(point: Point) -> Iterator[Finding]:
    """A gradient by elements that the outputs ignore: zero as well if that of the output is infinite or nan, if torch's
    is. By others, as where two factors are zero, torch's zero is no mask."""
    if point.torchs is None or not any(each is not None and not each.is_complex() for each in point.complete):
        raise Inapplicable
    plain = point.gradients(cotangents=point.complete)
    for check, value in (("gradient of an infinite one", torch.inf), ("gradient of a nan", torch.nan)):
        cotangents = [each if each is None else torch.full_like(each, value) for each in point.complete]
        try:
            wanted = point.torchs.gradients(cotangents=cotangents)
        except FormulaError as error:  # it refuses nan
            raise Inapplicable from error
        computed = point.gradients(cotangents=cotangents)
        for i, (slot, own, other, usual) in enumerate(zip(point.slots, computed, wanted, plain)):
            if own is None or other is None or usual is None or slot.tensor.is_complex():
                continue
            masked = own.isnan() & other.isfinite() & (usual == 0)
            if masked.any() and point.ignores({i: masked.to(slot.tensor.dtype)}):
                yield Finding(check, slot.title, shown(own), shown(other))


def is_shared(check: Check, finding: Finding, torchs: Point | None) -> bool:
    """Whether torch's own formula has a finding of a check about the same input or output, too, or raises an error; of
    an error, whether it has any. No if torch has no such formula."""
    if torchs is None:
        return False
    found = list[tuple[str, str]]()
    try:
        found.extend(map(key, check(torchs)))
    except (Inapplicable, NotImplementedFormula):
        pass
    except Exception:
        return True
    return key(finding) in found or (finding.check in ("error", "undefined gradient") and bool(found))


def key(finding: Finding) -> tuple[str, str]:
    """What a finding is: the check, and the input or output."""
    return finding.check, finding.name.partition("[")[0]


def wavers(point: Point | None, again: Point) -> bool:
    """Whether torch's own formula returns something else the second time: then it decides nothing."""
    if point is None or point.torchs is None or again.torchs is None:
        return False
    try:
        first, second = (list(checks.derivatives(each)) for each in (point.torchs, again.torchs))
    except Exception:
        return False
    return not all(same(one, other) for (_, one), (_, other) in zip(first, second))


def may_lack(check: Check, point: Point, error: FormulaError | Lacking) -> bool:
    """Whether a derivative may be missing: torch's own formula lacks it as well, or nothing shows that it is there."""
    text = first_line(error)
    if text.startswith("Trying to use forward AD with"):  # torch may decompose what has no formula of its own
        return True
    if point.torchs is None:
        return is_absent(text) or (lacks(text) and (isinstance(error, Lacking) or "the derivative for" in text))
    if not isinstance(error, NotImplementedFormula | Lacking):
        return False  # an error, which torch's own formula may share
    try:
        list(check(point.torchs))
    except Exception:
        return True
    return False
