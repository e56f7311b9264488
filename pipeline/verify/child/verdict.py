"""All checks of one operator: its samples, the checks of each, and the smallest sample of what is wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any

from torch import Tensor
from torch.utils import _pytree as pytree

from pipeline.verify.child import checks, own
from pipeline.verify.child.checks import Finding, Inapplicable, Skipped, first_line, same
from pipeline.verify.child.formulas import Args, FormulaError, Formulas, NotImplementedFormula, Overwritten
from pipeline.verify.child.point import Point, poisoned
from pipeline.verify.child.samples import Sample
from pipeline.verify.child.shrink import shrunk
from pipeline.verify.child.text import described
from pipeline.verify.child.torchs import TorchFormulas
from pipeline.verify.child.written import written

Check = Callable[[Point], Iterator[Finding]]
_OF_GRADIENTS: tuple[Check, ...] = (checks.gradient, checks.masks, checks.undefined, checks.layout)
# How the source of a sample begins that torch tests derivatives at; not one of an operator that is called in the
# backward of another one: what that operator saved are inputs of their own here.
RECORDED = "torch's sample"
_FOLLOWING = ("torch's own", "second derivative", "tangent of the gradient", "gradient where")
_SECONDS = 3.0  # for one operator: later samples are left out
_FEW = 3  # of torch's samples, and as many of others, of each mode get the checks that take long


def _size(sample: Sample) -> tuple[bool, int]:
    """How large a sample is: an empty one shows less than any other."""
    size = sum(each.numel() for each in pytree.tree_leaves(sample.args) if isinstance(each, Tensor))
    return not size, size


class Verdict:
    """What the checks of one operator found. `torchs`: torch's own formulas, None if torch lacks the operator.

    A difference that torch's own formula shares, at a sample outside torch's tests, is not a finding: it may be a
    convention at a kink, or an argument outside its use. It is kept as `shared`.
    """

    def __init__(self, formulas: Formulas, torchs: TorchFormulas | None) -> None:
        self.formulas, self.torchs = formulas, torchs
        self.counts: Counter[str] = Counter()
        self.done: Counter[str] = Counter()  # the samples that each check has done
        self.skipped: Counter[str] = Counter()
        self.findings: dict[tuple[str, str], tuple[Finding, Sample]] = {}
        self.shared: dict[tuple[str, str], tuple[Finding, Sample]] = {}
        self._seconds: Counter[tuple[bool, tuple[str, ...]]] = Counter()  # samples with second derivatives
        self._written: Counter[tuple[bool, tuple[str, ...]]] = Counter()  # and those written in place
        self._errors = 0

    def check(self, samples: Iterable[Sample], without: Collection[int], begin: Callable[[int], None]) -> None:
        """Runs all checks on all samples, until the time is over. `without`: the numbers of samples to leave out, which
        ended a process; `begin`: called with the number of each sample."""
        self.skipped |= {"samples that end the process": len(without)} if without else {}
        end = time.process_time() + _SECONDS
        for number, sample in enumerate(samples):
            if number in without:
                continue
            begin(number)
            try:
                point = Point(self.formulas, sample.args)
            except Exception as error:
                self.skipped[f"the operator: {first_line(error)}"] += 1
                continue
            self._check(point, sample)
            if time.process_time() > end:
                break

    def _check(self, point: Point, sample: Sample) -> None:
        if not any(point.needs) or not any(each is not None for each in point.cotangents):
            self.skipped["no input or no output of this operator is differentiable"] += 1
            return
        self.counts[sample.kind] += 1
        torchs = None if self.torchs is None else Point(self.torchs, sample.args)
        found = False
        chosen = list(self._checks(sample))
        before = self.done["written"]
        for check in chosen:
            for finding in self._run(check, point):
                if finding.check == "error":
                    self._errors += 1
                shared = self._is_shared(check, torchs, sample)
                found |= not shared
                if self._is_certain(point):
                    self._keep(finding, sample, shared)
        self._written[_group(sample)] += self.done["written"] - before
        if checks.second in chosen and _has_zero(point):  # it decides little: another sample may decide more
            self._seconds[_group(sample)] -= 1
        if not found and torchs is not None:
            for finding in self._run(partial(own.differences, torchs=torchs), point):
                if self._is_certain(point):
                    self._keep(finding, sample, shared=False)

    def _is_certain(self, point: Point) -> bool:
        """Whether the gradients do not depend on memory that nothing has written to, or that is freed."""
        if not self.formulas.has_backward:
            return True
        try:
            first, other = (poisoned(point, byte) for byte in (0x40, 0x7F))
        except FormulaError:
            return True
        if all(map(same, first, other)):
            return True
        self.skipped["the operator or the formula reads memory that was not written to, or is freed"] += 1
        return False

    @staticmethod
    def _is_shared(check: Check, torchs: Point | None, sample: Sample) -> bool:
        """Whether torch's own formula has a finding too; at a sample of torch's tests, only if it raises an error."""
        return torchs is not None and own.is_shared(check, torchs, errors=_is_torchs(sample))

    def _checks(self, sample: Sample) -> Iterable[Check]:
        first = _OF_GRADIENTS if self.formulas.has_backward else ()
        forward = bool(self.formulas.tangents)
        first = (*first, checks.tangents) if forward else first
        in_place = self.formulas.in_place and self.formulas.has_backward and sample.kind != "point"
        if in_place and self._written[_group(sample)] < _FEW:
            first = (*first, written)
        of_gradient = sample.kind == "plain" and sample.smooth_gradient and self.formulas.has_backward
        if not of_gradient or self._seconds[_group(sample)] >= _FEW:
            return first
        self._seconds[_group(sample)] += 1
        return (*first, checks.second, checks.forward_over_reverse) if forward else (*first, checks.second)

    def _run(self, check: Check, point: Point) -> list[Finding]:
        """What a check finds. Reasons why it cannot be done are counted."""
        name = getattr(check, "__name__", "differences")
        try:
            found = list(check(point))
            self.done[name] += 1
            return found
        except Inapplicable:
            pass
        except Overwritten as error:
            return [Finding("overwritten", str(error), "", "")]
        except (Skipped, NotImplementedFormula) as error:
            self.skipped[f"{name}: {first_line(error)}"] += 1
        except FormulaError as error:
            return [Finding("error", error.output, first_line(error), "a gradient")]
        except Exception as error:  # of an operator that does not take what a check passes
            self.skipped[f"{name}: {type(error).__name__}: {first_line(error)}"] += 1
        return []

    def _keep(self, finding: Finding, sample: Sample, shared: bool) -> None:
        """Keeps a finding, if there is none of its kind at a smaller sample."""
        kept = self.shared if shared else self.findings
        if _key(finding) not in kept or _size(sample) < _size(kept[_key(finding)][1]):
            kept[_key(finding)] = finding, sample

    def _shown(self) -> list[tuple[Finding, Sample]]:
        """The findings without those that follow from a wrong gradient."""
        if self.torchs is None and 2 * self._errors < self.counts.total():  # at some, which the formula is not for
            self.findings = {key: each for key, each in self.findings.items() if key[0] != "error"}
        written_to = {key: each for key, each in self.findings.items() if key[0] == "overwritten"}
        if written_to:
            return list(written_to.values())
        wrong = any(check == "gradient" for check, _ in self.findings)
        return [each for (check, _), each in self.findings.items() if not wrong or not check.startswith(_FOLLOWING)]

    def _unchecked(self) -> str:
        """Why no gradient could be checked, if there are formulas for it; "" otherwise."""
        if not self.formulas.has_backward or self.done["gradient"]:
            return ""
        errors = [f"gradient: {finding.computed}" for finding, _ in self.shared.values() if finding.check == "error"]
        skipped = [reason for reason, _ in self.skipped.most_common() if reason.startswith("gradient: ")]
        return next(iter((*skipped, *errors)), "")

    def result(self) -> dict[str, Any]:
        """The verdict as JSON has it."""
        return {
            "name": self.formulas.name,
            "unchecked": "" if self.findings else self._unchecked(),
            "samples": dict(self.counts),
            "done": dict(self.done),
            "skipped": dict(self.skipped.most_common(3)),
            "findings": [self._finding(finding, sample) for finding, sample in self._shown()],
            "shared": [_row(self.formulas, finding, sample.args, sample) for finding, sample in self.shared.values()],
        }

    def _finding(self, finding: Finding, sample: Sample) -> dict[str, Any]:
        torchs = None if _is_torchs(sample) else self.torchs
        smaller, args = shrunk(self.formulas, torchs, finding, sample)
        return _row(self.formulas, smaller, args, sample)


def _group(sample: Sample) -> tuple[bool, tuple[str, ...]]:
    """The samples of which a few get long checks: torch's, or others, of one mode."""
    return _is_torchs(sample), tuple(each for each in sample.args if isinstance(each, str))


def _has_zero(point: Point) -> bool:
    """Whether the gradient of an input is zero."""
    try:
        gradients = point.gradients()
    except FormulaError:
        return False
    return any(each is None or not bool(each.any()) for each, slot in zip(gradients, point.slots) if slot.has_gradient)


def _is_torchs(sample: Sample) -> bool:
    """Whether torch has a sample for its own tests."""
    return sample.kind == "plain" and sample.source.startswith(RECORDED)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.check, finding.name.partition("[")[0]


def _row(formulas: Formulas, finding: Finding, args: Args, sample: Sample) -> dict[str, Any]:
    """A finding as JSON has it."""
    of_sample = {"input": described(formulas, args), "source": sample.source, "point": sample.point}
    return {**finding._asdict(), **of_sample}
