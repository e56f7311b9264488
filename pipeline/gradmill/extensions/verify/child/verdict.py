"""All checks of one operator: its samples, the checks of each, and the smallest sample of what is wrong, as text that
people can type."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from gradmill.extensions.verify.child import checks, own
from gradmill.extensions.verify.child.call_at_sample import Point
from gradmill.extensions.verify.child.calls import Gradients, is_finite, is_float, mapped, tensors
from gradmill.extensions.verify.child.checks import Finding, Inapplicable, Lacking, first_line, number_of
from gradmill.extensions.verify.child.domains import is_convention
from gradmill.extensions.verify.child.formulas import Args, FormulaError, Formulas, Overwritten, TorchFormulas
from gradmill.extensions.verify.child.probe import Probe
from gradmill.extensions.verify.child.samples import Sample, strings
from gradmill.extensions.verify.child.second_order import forward_over_reverse, of_tangents, second

Check = Callable[[Point], Iterator[Finding]]
_OF_EACH: tuple[Check, ...] = (checks.gradient, checks.unread, checks.written, own.differences)
_OF_GRADIENTS = (*_OF_EACH[:2], checks.masks, checks.undefined, checks.layout, checks.recorded)
_DERIVED: tuple[Check, ...] = (second, forward_over_reverse, of_tangents, checks.lower)
# How the source of a sample begins that torch tests derivatives at; not one of an operator that is called in the
# backward of another one: what that operator saved are inputs of their own here.
RECORDED = "torch's sample"
_NUMBERS = (Tensor, float, complex)
_NOT_FINITE = ("nan", "inf", "-inf")
_FOLLOWING = ("torch's own", "second derivative", "tangent of the gradient", "gradient where", "gradient if all")
_OF_TANGENTS = ("derivative of the tangent", "tangent of the gradient")
_CONDITIONS = ("error", "undefined gradient")  # by which torch's own formula may be meant for something else
_CALLS = 40_000  # of one operator: later samples are left out. What is checked depends on no clock
_SECONDS = 60  # of CPU time: more leaves the verdict open
_PART = 10  # of so many samples one is enough to verify gradients
_TIMES = 3  # that a finding is compared again with torch's own formula
_HEAPS = 20  # arrangements of free memory in which torch's own formula may read what a finding is about
_TRIES = 40  # of smaller arguments
_SHOWN = 12  # elements of a tensor
_FEW = 3  # of torch's samples, and as many of others, of each mode get the checks that take long


class Kept(NamedTuple):
    """A finding with its sample, and the check that found it."""

    finding: Finding
    sample: Sample
    check: Check
    doubtful: bool = False  # of what torch shares


def _size(sample: Sample) -> tuple[bool, bool, int]:
    """How large a sample is: an empty one shows less than any other, and one at a special point than others."""
    size = sum(each.numel() for each in tensors(sample.args))
    return not size, sample.kind == "point", size


class Verdict:
    """What the checks of one operator found. `torchs`: torch's own formulas, None if torch lacks the operator; `forks`:
    as of `Probe`.

    What torch's own formula has as well is not a finding: it may be a convention at a kink, an argument outside its
    use, or a bug of torch. It is kept as `shared`.
    """

    def __init__(self, formulas: Formulas, torchs: TorchFormulas | None, *, forks: bool = True) -> None:
        self.formulas, self.torchs, self._forks = formulas, torchs, forks
        self.counts: Counter[str] = Counter()
        self.done: Counter[str] = Counter()  # the samples that each check has done
        self.skipped: Counter[str] = Counter()
        self.tried: list[dict[str, Any]] = []  # the samples, each with what was done
        self.findings: dict[tuple[str, str], Kept] = {}
        self.shared: dict[tuple[str, str], Kept] = {}
        self.transient = False
        self._few: Counter[tuple[Check, bool, tuple[str, ...]]] = Counter()  # samples that a long check decided

    def check(self, samples: Iterable[Sample], ending: Mapping[int, str], begin: Callable[[int], None]) -> None:
        """Runs all checks on all samples. `ending`: the numbers of samples that ended a process, and how; `begin`:
        called with the number of each other sample."""
        end = time.process_time() + _SECONDS
        for number, sample in enumerate(samples):
            done, skipped = self.done.copy(), self.skipped.copy()
            if number in ending:
                if self._forks and self._ends(sample):
                    self._keep(Finding("end", "", ending[number], ""), sample, checks.gradient, shared=False)
                    return
                self.skipped["samples that end the process"] += 1
            else:
                begin(number)
                self._check(sample)
            checked = {"checks": list(self.done - done), "skipped": list(self.skipped - skipped)}
            self.tried.append({**self._given(sample, sample.args), **checked})
            self.transient = time.process_time() > end
            if self.formulas.calls > _CALLS or self.transient:
                break

    def _point(self, args: Args, *, ones: bool = False) -> Point:
        """The formulas at arguments, with torch's own next to them. Raises what the operator raises."""
        torchs = None if self.torchs is None else Point(self.torchs, args, ones=ones)
        return Point(self.formulas, args, torchs, ones=ones)

    def _ends(self, sample: Sample) -> bool:
        """Whether the formulas end the process at a sample again, and torch's own do not; or the operator if torch
        lacks it."""

        def survives(formulas: Formulas, chosen: Iterable[Check]) -> bool:
            point = Point(formulas, sample.args)
            for check in chosen:
                with suppress(Exception):
                    list(check(point))
            return True

        listed = list(self._checks(sample))
        others, probe = (self.torchs or self.formulas, listed if self.torchs else ()), Probe()
        if not probe.run(lambda: probe.ask(lambda: survives(*others))):
            return False
        return not probe.run(lambda: probe.ask(lambda: survives(self.formulas, listed)))

    def _check(self, sample: Sample) -> None:
        try:
            point = self._point(sample.args)
        except Exception as error:
            self.skipped[f"the operator: {first_line(error)}"] += 1
            return
        if not any(point.needs) or not any(each is not None for each in point.cotangents):
            self.skipped["no input or no output of this operator is differentiable"] += 1
            return
        self.counts[sample.kind] += 1
        for finding in self._run(checks.memory, point):
            shared = any(own.is_shared(checks.memory, finding, point.torchs) for _ in _heaps())
            if shared or finding.name == checks.OPERATOR:
                self.skipped["the operator or the formula reads memory that was not written to, or is freed"] += 1
            else:
                self._keep(finding, sample, checks.memory, shared=False)
            return
        found, refused, decides = False, False, not _has_zero(point)  # else another sample may decide more
        for check in self._checks(sample):
            if check in _DERIVED and (refused or not point.is_smooth):
                continue
            before = self.done[check.__name__]
            for finding in self._run(check, point):
                shared = own.is_shared(check, finding, point.torchs)
                found |= not shared
                refused |= finding.computed.startswith("a gradient of")  # by the engine
                self._keep(finding, sample, check, shared, point)
            if decides or check is checks.written:
                self._few[check, *_group(sample)] += self.done[check.__name__] - before
        if found or self.torchs is None:
            return
        masks = sample.kind != "point" and self.formulas.has_backward and point.is_smooth
        for check in (own.differences, own.infinite) if masks else (own.differences,):
            for finding in self._run(check, point):
                self._keep(finding, sample, check, False, point)

    def _checks(self, sample: Sample) -> Iterable[Check]:
        backward, forward = self.formulas.has_backward, bool(self.formulas.tangents)
        plain, group = sample.kind == "plain", _group(sample)
        few: dict[Check, bool] = {
            checks.written: bool(self.formulas.in_place) and backward and sample.kind != "point",
            checks.lower: plain,
            second: plain and backward,
            forward_over_reverse: plain and backward and forward,
            of_tangents: plain and forward,
        }
        chosen = [*(_OF_GRADIENTS if backward else ()), *((checks.tangents,) if forward else ())]
        return [*chosen, *(check for check, wanted in few.items() if wanted and self._few[check, *group] < _FEW)]

    def _run(self, check: Check, point: Point) -> list[Finding]:
        """What a check finds, most of them the first of it. Reasons why it cannot be done are counted."""
        name = check.__name__
        try:
            found = list(check(point) if check in _OF_EACH else islice(check(point), 1))
            self.done[name] += 1
            return found
        except Overwritten as error:
            return [Finding("overwritten", str(error), "", "")]
        except Inapplicable as error:
            if not (reason := first_line(error)):
                return []
        except (FormulaError, Lacking) as error:
            if not own.may_lack(check, point, error):
                return [Finding("error", getattr(error, "output", ""), first_line(error), name)]
            reason = first_line(error)
        except Exception as error:  # of an operator that does not take what a check passes
            reason = f"{type(error).__name__}: {first_line(error)}"
        self.skipped[f"{name}: {reason}"] += 1
        return []

    def _keep(self, finding: Finding, sample: Sample, check: Check, shared: bool, point: Point | None = None) -> None:
        """Keeps a finding, if there is none of its kind at a smaller sample, or one that may be a convention, unless
        what torch's own formula has at the point is something else another time."""
        kept = self.shared if shared else self.findings
        before = kept.get(own.key(finding))
        is_larger = before is not None and _size(sample) >= _size(before.sample)
        if before is not None and is_larger and not before.doubtful:
            return
        doubtful = shared and self._is_doubtful(finding, sample, shared)
        if before is not None and (doubtful, is_larger) > (before.doubtful, False):
            return
        others = (self._point(sample.args) for _ in range(_TIMES if point else 0))
        if any(own.wavers(point, each) or shared != own.is_shared(check, finding, each.torchs) for each in others):
            self.skipped[f"{check.__name__}: torch's own formula returns something else each time"] += 1
        else:
            kept[own.key(finding)] = Kept(finding, sample, check, doubtful)

    def _shown(self) -> list[Kept]:
        """The findings without those that follow from others."""
        alone = [each for (check, _), each in self.findings.items() if check in ("overwritten", "memory", "end")]
        if alone:
            return alone
        gradient = any(check == "gradient" for check, _ in self.findings)
        tangent = any(check.startswith("tangent for") for check, _ in (*self.findings, *self.shared))
        follows = (*(_FOLLOWING if gradient else ()), *(_OF_TANGENTS if tangent else ()))
        errors = _DERIVED if gradient else ()
        kept = [each for (check, _), each in self.findings.items() if not check.startswith(follows)]
        return [each for each in kept if not (each.finding.check == "error" and each.check in errors)]

    def _unchecked(self) -> str:
        """Why gradients could be checked at no or few samples, if there are formulas for them; "" otherwise."""
        if not self.formulas.has_backward or self.done["gradient"] * _PART > self.counts.total():
            return ""
        kept = (each.finding for each in self.shared.values())
        errors = [f"gradient: {finding.computed}" for finding in kept if finding.check == "error"]
        skipped = [reason for reason, _ in self.skipped.most_common() if reason.startswith("gradient: ")]
        return next(iter((*skipped, *errors)), "")

    def result(self) -> dict[str, Any]:
        """The verdict as JSON has it."""
        return {
            "name": self.formulas.name,
            "unchecked": "" if self.findings else self._unchecked(),
            "samples": dict(self.counts),
            "done": dict(self.done),
            "tried": self.tried,
            "skipped": dict(self.skipped.most_common(3)),
            "findings": [self._smallest(each) for each in self._shown()],
            "shared": [self._row(each, each.sample.args, shared=True) for each in self.shared.values()],
            "transient": self.transient,
        }

    def _smallest(self, kept: Kept) -> dict[str, Any]:
        """A finding at the smallest arguments that have it; for gradients and tangents of ones, if it is there for
        them, so that it can be computed by hand."""
        finding, sample, check, _ = kept

        def again(args: Args, *, ones: bool = False) -> Finding | None:
            try:
                point = self._point(args, ones=ones)
            except Exception:
                return None
            found = [each for each in self._run(check, point) if own.key(each) == own.key(finding)]
            return next((each for each in found if not own.is_shared(check, each, point.torchs)), None)

        if finding.check == "end":
            return self._row(kept, sample.args)
        probe = Probe(forks=self._forks)  # an operator may not check what is cut
        args = probe.run(lambda: shrunk(sample.args, lambda args: probe.ask(lambda: again(args) is not None)))
        of_ones = again(args, ones=True)
        shows_grads = of_ones is None and finding.check.startswith("grad")
        found = of_ones or again(args) or finding
        return self._row(kept._replace(finding=found), args, grads=shows_grads)

    def _row(self, kept: Kept, args: Args, *, shared: bool = False, grads: bool = False) -> dict[str, Any]:
        """A finding as JSON has it. `grads`: with the gradients of the outputs."""
        finding, sample = kept.finding, kept.sample
        given = self._given(sample, args, self._point(args).cotangents if grads else ())
        return {**finding._asdict(), **given, "doubtful": self._is_doubtful(finding, sample, shared)}

    def _given(self, sample: Sample, args: Args, grads: Gradients = ()) -> dict[str, Any]:
        """A sample with these arguments, and gradients of outputs, as JSON has it."""
        return {"input": described(self.formulas, args, grads), "source": sample.source, "point": sample.point}

    def _is_doubtful(self, finding: Finding, sample: Sample, shared: bool) -> bool:
        """Whether a finding may be a convention: a gradient that is not finite at a kink, or, of an operator that torch
        lacks, at a special point; of those that torch shares, all but what smooth differences decide at finite numbers,
        in double precision, of all that depends on the input."""
        is_kink = finding.expected.startswith("between")
        if shared:
            is_plain = finding.check not in _CONDITIONS and not finding.check.startswith("gradient if all")
            leaves = [each for each in pytree.tree_leaves(list(sample.args)) if isinstance(each, _NUMBERS)]
            if is_kink or not is_plain or not all(is_finite(torch.as_tensor(each)) for each in leaves):
                return True
            point = self._point(sample.args)
            named = dict(zip(self.formulas.arguments, point.args))
            return is_convention(self.formulas.operator, named) or _has_saved(point) or not point.is_smooth
        is_special = sample.kind == "point" or sample.point.endswith((" = 0", " = 0.0", " = inf", " = -inf"))
        return finding.computed in _NOT_FINITE and (is_kink or (self.torchs is None and is_special))


def _heaps() -> Iterator[None]:
    """Goes through other arrangements of free memory: on them depends whether what was freed is overwritten at once."""
    for number in range(_HEAPS):
        held = [torch.empty(1 + each % 64) for each in range(17 * number)][::2]
        yield
        held.clear()


def _group(sample: Sample) -> tuple[bool, tuple[str, ...]]:
    """The samples of which a few get long checks: torch's, or others, of one mode."""
    return sample.kind == "plain" and sample.source.startswith(RECORDED), strings(sample.args)


def _has_zero(point: Point) -> bool:
    """Whether the gradient of an input is zero."""
    try:
        found = point.gradients() if point.formulas.has_backward else ()
        return any(each is None or not bool(each.any()) for each in found)
    except Exception:  # of the formula, or of a layout in which gradients are
        return False


def _has_saved(point: Point) -> bool:
    """Whether an operator is part of a backward, with inputs that are not differentiated: the forward saved them, and
    formulas see them as functions of the others."""
    differentiated = {slot.place for _, slot in point.implemented}
    saved = (any(map(is_float, tensors(each))) for i, each in enumerate(point.args) if i not in differentiated)
    return "_backward" in point.formulas.operator and any(saved)


def shrunk(args: Args, has_finding: Callable[[Args], bool]) -> Args:
    """The smallest arguments that have a finding, of those tried."""
    tries = iter(range(_TRIES))
    smaller: Args | None = args
    while smaller is not None:
        args = smaller
        smaller = next((each for each, _ in zip(_smaller(args), tries) if has_finding(each)), None)
    return args


def _smaller(args: Args) -> Iterator[Args]:
    """Arguments with a dimension of every tensor that has its size cut to one element; then with rounded numbers."""
    own = list(tensors(args))
    sizes = {(-size, place) for each in own for place, size in enumerate(reversed(each.shape)) if size > 1}
    for size, place in sorted(sizes):
        yield mapped(partial(_cut, size=-size, dim=-1 - place), args)
    rounded = mapped(lambda each: (each * 4).round() / 4 if each.is_floating_point() else each, args)
    if any(not torch.equal(a, b) for a, b in zip(own, tensors(rounded))):
        yield rounded


def _cut(tensor: Tensor, size: int, dim: int) -> Tensor:
    """The first element along a dimension counted from the last one, if it has this size."""
    return tensor.narrow(dim, 0, 1) if tensor.dim() >= -dim and tensor.shape[dim] == size else tensor


def described(formulas: Formulas, args: Args, grads: Gradients) -> str:
    """The arguments, and the gradients of outputs: `self=tensor(0.5), other=2, grad=tensor(1.25)`. Defaults of None are
    left out."""
    pairs = [*zip(formulas.arguments, args), *(("grad", each) for each in grads)]
    return ", ".join(f"{name}={_value(value)}" for name, value in pairs if value is not None)


def _value(value: Any) -> str:
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value).removeprefix("torch.")


def _tensor(tensor: Tensor) -> str:
    shape = list(tensor.shape)
    if tensor.numel() > _SHOWN or tensor.layout != torch.strided:
        return f"tensor of shape {shape}"
    kind = "" if tensor.dtype == torch.float64 else f", {str(tensor.dtype).removeprefix('torch.')}"
    numbers = pytree.tree_map(_number, tensor.detach().tolist())
    return f"tensor({numbers}{kind})".replace("'", "")


def _number(value: Any) -> str:
    return number_of(value, 4) if isinstance(value, float | complex) else str(value)
