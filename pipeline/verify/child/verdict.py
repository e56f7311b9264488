"""All checks of one operator: its samples, the checks of each, and the smallest sample of what is wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import Tensor
from torch.utils import _pytree as pytree

from pipeline.verify.child import checks, own
from pipeline.verify.child.checks import Finding, Skipped, first_line
from pipeline.verify.child.formulas import FormulaError, Formulas, NotImplementedFormula
from pipeline.verify.child.point import Point
from pipeline.verify.child.samples import Sample
from pipeline.verify.child.shrink import shrunk
from pipeline.verify.child.text import described
from pipeline.verify.child.torchs import gradients

Check = Callable[[Point], Iterator[Finding]]
_FIRST: tuple[Check, ...] = (checks.gradient, checks.tangents, checks.masks, checks.undefined, checks.layout)
_SECOND: tuple[Check, ...] = (checks.second, checks.forward_over_reverse)
_FOLLOWING = ("torch's own", "second derivative", "tangent of the gradient")
_SECONDS = 3.0  # for one operator: later samples are left out
_SECOND_SAMPLES = 4  # of an operator get second derivatives: these take long


def _size(sample: Sample) -> int:
    return sum(each.numel() for each in pytree.tree_leaves(sample.args) if isinstance(each, Tensor))


class Verdict:
    """What the checks of one operator found. `function`: torch's operator, None if torch has no formula for it."""

    def __init__(self, formulas: Formulas, function: Any) -> None:
        self.formulas, self.function = formulas, function
        self.counts: Counter[str] = Counter()
        self.done: Counter[str] = Counter()  # the samples that each check has done
        self.skipped: Counter[str] = Counter()
        self.findings: dict[tuple[str, str], tuple[Finding, Sample]] = {}
        self._seconds = 0

    def check(self, samples: Iterable[Sample]) -> None:
        """Runs all checks on all samples, until the time is over."""
        end = time.process_time() + _SECONDS
        for sample in samples:
            try:
                point = Point(self.formulas, self.function, sample.args)
            except Exception as error:
                self.skipped[f"the operator: {first_line(error)}"] += 1
                continue
            self._check(point, sample)
            if time.process_time() > end:
                break

    def _check(self, point: Point, sample: Sample) -> None:
        if not any(point.needs) or not any(each is not None for each in point.cotangents):
            return
        self.counts[sample.kind] += 1
        found = [each for check in self._checks(sample) for each in self._run(check, point)]
        differences: list[Finding] = []
        if self.function is not None and self.formulas.has_backward:
            differences = self._run(own.differences, point)
        is_plain = sample.smooth and sample.kind != "point"
        if found and not differences and not is_plain and self.function is not None:
            self.skipped[f"{found[0].check}: at {sample.point or 'a point'} as torch's own formula"] += 1
            return
        for each in found or differences:
            self._keep(each, sample)

    def _checks(self, sample: Sample) -> Iterable[Check]:
        first = _FIRST if self.formulas.has_backward else (checks.tangents,)
        of_gradient = sample.kind == "plain" and sample.smooth_gradient and self.formulas.has_backward
        if not of_gradient or self._seconds >= _SECOND_SAMPLES:
            return first
        self._seconds += 1
        return *first, *_SECOND

    def _run(self, check: Check, point: Point) -> list[Finding]:
        """What a check finds. Reasons why it cannot be done are counted."""
        name = check.__name__
        try:
            found = list(check(point))
            self.done[name] += 1
            return found
        except (Skipped, NotImplementedFormula) as error:
            self.skipped[f"{name}: {first_line(error)}"] += 1
        except FormulaError as error:
            if self.function is None or gradients(point, point.cotangents) is not None:
                return [Finding("error", "", first_line(error), "a gradient")]
            self.skipped[f"{name}: {first_line(error)}"] += 1  # as torch's own formula
        except Exception as error:  # of an operator that does not take what a check passes
            self.skipped[f"{name}: {type(error).__name__}: {first_line(error)}"] += 1
        return []

    def _keep(self, finding: Finding, sample: Sample) -> None:
        """Keeps a finding, if there is none of its kind at a smaller sample."""
        key = finding.check, finding.name.partition("[")[0]
        if key not in self.findings or _size(sample) < _size(self.findings[key][1]):
            self.findings[key] = finding, sample

    def _shown(self) -> list[tuple[Finding, Sample]]:
        """The findings without those that follow from a wrong gradient."""
        wrong = any(check == "gradient" for check, _ in self.findings)
        return [each for (check, _), each in self.findings.items() if not wrong or check not in _FOLLOWING]

    def result(self) -> dict[str, Any]:
        """The verdict as JSON has it."""
        return {
            "name": self.formulas.name,
            "samples": dict(self.counts),
            "done": dict(self.done),
            "skipped": dict(self.skipped.most_common(3)),
            "findings": [self._finding(finding, sample) for finding, sample in self._shown()],
        }

    def _finding(self, finding: Finding, sample: Sample) -> dict[str, Any]:
        smaller = shrunk(self.formulas, self.function, finding, sample)
        return {
            "check": finding.check,
            "name": finding.name,
            "computed": smaller[0].computed,
            "expected": smaller[0].expected,
            "input": described(self.formulas, smaller[1]),
            "source": sample.source,
            "point": sample.point,
        }
