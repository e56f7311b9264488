"""The verdicts as problems at their formulas, and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from gradmill.cpp.identifiers import uses
from gradmill.extensions.verify.model import Code, Finding, Subject, Tried, Verdict
from gradmill.extensions.verify.run import Result
from gradmill.model.regex import regex
from gradmill.problems.catalog.verification import DIFFERENT, INFINITE, UNCHECKED, WRONG
from gradmill.problems.problem import Problem
from gradmill.releases import is_at_least, minor

OWN = "torch's own"  # how the checks begin that compare with torch's formula
_STATUSES = ("verified", "wrong", "doubtful", "shared", "unchecked")
_TITLES = {each: each for each in _STATUSES} | {"shared": "shared with torch", "unchecked": "not checked"}
_PLACE = regex(r"\[.*")
_CHECKS = {  # of `child/verdict.py`: what they verify
    "gradient": "gradients",
    "tangents": "tangents",
    "second": "second derivatives",
    "forward_over_reverse": "forward over reverse",
    "of_tangents": "forward over forward",
    "lower": "lower precision",
    "written": "written in place",
}
_DERIVED = tuple(_CHECKS)[2:]
_BY_TORCH = "is {computed}, and by the formula of torch {torch} {expected}"
_BY_DIFFERENCES = "is {computed}, and by finite differences {expected}"
_MASKED = "the gradient of {name} is {computed} if that of the output is"
_SELECTS = "and by the formula of torch {torch} {expected}: where() selects"
_MESSAGES = {  # of checks, by how their names begin
    "overwritten": "the formula writes into {name}: what it is given must stay as it is",
    "shared memory": (
        "the tangent of {name} is in the memory of that of {computed}, which changes when {name} is written to"
    ),
    "end": "the formula {computed}",
    "memory": "what the formula of {name} returns depends on memory that nothing has written to, or that is freed",
    "undefined gradient": "the formula raises an error if the gradient of {name} is undefined: {computed}",
    "error": "the formula raises an error{where}: {computed}",
    f"{OWN} tangent": f"the tangent of {{name}} {_BY_TORCH}",
    OWN: f"the gradient of {{name}} {_BY_TORCH}",
    "gradient of an infinite one": f"{_MASKED} infinite, by which zero is nan, {_SELECTS}",
    "gradient of a nan": f"{_MASKED} nan, {_SELECTS}",
    "gradient of other": f"the gradient of {{name}} for an output whose gradient no formula reads {_BY_DIFFERENCES}",
    "gradient if": "the {subject} is {computed}, otherwise {expected}",
    "tangent of the gradient": f"the {{check}} {_BY_DIFFERENCES}",
    "derivative of the tangent": f"the {{check}} {_BY_DIFFERENCES}",
    "second derivative": f"the {{check}} of {{name}} {_BY_DIFFERENCES}",
    "": f"the {{subject}} {_BY_DIFFERENCES}",
}
_UNFIT = "the {subject} is of {unfit}, and must be {expected}"  # of a gradient of another type, of another shape


class Row(Struct, frozen=True):
    """A Node in the report as JSON."""

    name: str
    operator: str
    status: str  # verified, shared, wrong, doubtful, unchecked
    reason: str
    samples: dict[str, int]
    checks: dict[str, int]
    skipped: dict[str, int]
    tried: list[Tried]  # the samples
    findings: tuple[Finding, ...]
    shared: tuple[Finding, ...]  # what torch's own formula has as well


class Report(Struct, frozen=True):
    """What `gradmill verify --format=json` prints."""

    torch: str
    new: int  # the others were verified before
    seconds: float
    scope: str  # how many formulas differ from those of `against`; "" for all, or those of given names
    rows: tuple[Row, ...]


def report(result: Result, seconds: float, scope: str) -> Report:
    """The whole result as data."""
    return Report(result.torch, result.new, round(seconds, 2), scope, tuple(_row(*each) for each in result.verdicts))


def _row(code: Code, verdict: Verdict) -> Row:
    subject = code.subject
    found = verdict.samples, verdict.done, verdict.skipped, verdict.samples_tried, verdict.findings, verdict.shared
    return Row(subject.name, subject.operator, status(verdict), verdict.reason, *found)


def status(verdict: Verdict) -> str:
    """One of verified, shared (wrong as torch's own), wrong, doubtful (all findings are warnings), unchecked."""
    if verdict.findings:
        return "wrong" if WRONG in map(_rule, verdict.findings) else "doubtful"
    return "unchecked" if verdict.reason else "shared" if verdict.wrong_as_torchs else "verified"


def line_of(verdict: Verdict, torch: str) -> str:
    """The status of a verdict, with its first finding or the reason why there is none."""
    found = sorted(verdict.findings, key=lambda finding: _rule(finding) != WRONG) or verdict.wrong_as_torchs
    why = verdict.reason or next((_problem(each, torch) for each in found), "")
    return ": ".join(filter(None, (_TITLES[status(verdict)], why)))


def _rule(finding: Finding) -> str:
    """The kind of a finding. Two of them are warnings: a gradient that is not torch's own where finite differences
    decide nothing, and one that is not finite at a special point, where the operator is."""
    if finding.check.startswith(OWN):
        return DIFFERENT
    return INFINITE if finding.doubtful else WRONG


def problems(result: Result) -> Iterator[Problem]:
    """Each finding at its formula, as an error or a warning; and a warning for each Node that is not checked."""
    for code, verdict in result.verdicts:
        subject = code.subject
        name = subject.operator.partition("::")[2]
        for finding in verdict.findings:
            rule = _rule(finding)
            told = _problem(finding, result.torch), _hint(finding), _field(subject, finding)
            yield Problem("derivatives", subject.entry, name, *told, warning=rule != WRONG, rule=rule)
        if verdict.reason:
            why = f"{subject.name} is not verified: {verdict.reason}"
            yield Problem("derivatives", subject.entry, name, why, warning=True, rule=UNCHECKED)


def _problem(finding: Finding, torch: str) -> str:
    """What a finding says."""
    what, _, condition = finding.check.partition(" ")
    is_unfit = what in ("gradient", "tangent") and finding.computed.startswith("a ")
    message = next(text for start, text in _MESSAGES.items() if finding.check.startswith(start))
    return (_UNFIT if is_unfit else message).format(
        check=finding.check,
        subject=f"{what} of {finding.name} {condition}".rstrip(),
        name=finding.name,
        computed=finding.computed.removeprefix("the error: "),
        unfit=finding.computed.partition(" of ")[2],
        expected=finding.expected,
        torch=torch,
        where=f" ({_CHECKS[finding.expected]})" if finding.expected in _DERIVED else "",
    )


def _hint(finding: Finding) -> str:
    """What to do, if that is known, and the sample."""
    found = _sample(finding)
    if finding.check == "shared memory":
        return "; ".join(filter(None, (f"return a copy, as {finding.computed}_t.clone() is", found)))
    if not finding.computed.startswith("a gradient of type complex"):
        return found
    name = finding.name
    advice = f"take the real part where {name} is real, as torch's handle_r_to_c({name}.scalar_type(), …) does"
    return f"{advice}; {found}" if found else advice


def _sample(finding: Finding) -> str:
    point = f" ({finding.point})" if finding.point else ""
    return f"for {finding.input}{point}" if finding.input else ""


def _field(subject: Subject, finding: Finding) -> tuple[str, ...]:
    """The key of the formula that a finding is about: the one of its input or output, else the first."""
    name = _PLACE.sub("", finding.name)
    keys = [key for key, _ in subject.formulas]
    fitting = [key for key in keys if name in key.split(", ")]
    if finding.check == "overwritten":
        fitting = [key for key, formula in subject.formulas if uses(formula, name)]
    return ((fitting or keys)[0],) if keys else ()


def text(result: Result, seconds: float, release: str, *, details: bool, verbose: bool) -> str:
    """What is not checked, and the summary. `release`: that of the set; `details`: a line for each Node that is
    verified, too; `verbose`: what was tried."""
    lines = list[str]()
    for code, verdict in result.verdicts:
        is_right = status(verdict) in ("verified", "shared")
        lines += [_detail(code.subject, verdict, result.torch)] if details and is_right else []
        lines += [f"{code.subject.name}:", *map(_tried, verdict.samples_tried)] if verbose else []
    lines += _unchecked(result.verdicts)
    counts = Counter(status(verdict) for _, verdict in result.verdicts)
    found = ", ".join(f"{counts[key]} {title}" for key, title in _TITLES.items() if counts[key]) or "no formulas"
    known = len(result.verdicts) - result.new
    earlier = f"; {known} known from earlier" if known else ""
    older = "" if is_at_least(minor(result.torch), minor(release)) else f", which is older than the set's {release}"
    lines.append(f"{found}, with torch {result.torch}{older}, {seconds:.1f} s{earlier}")
    return "".join(f"{line}\n" for line in lines)


def _detail(subject: Subject, verdict: Verdict, torch: str) -> str:
    done = [title for check, title in _CHECKS.items() if verdict.done.get(check)]
    left = [_reason(each) for each in verdict.skipped]
    line = f"{subject.name}: {', '.join(done)}; {sum(verdict.samples.values())} samples"
    shared = [f"{_problem(each, torch)}, as torch's own: {_sample(each)}" for each in verdict.shared]
    return "\n  ".join((line, *(f"not checked at some samples: {reason}" for reason in left), *shared))


def _tried(sample: Tried) -> str:
    point = f" ({sample.point})" if sample.point else ""
    checks = ", ".join(sample.checks) or "nothing"
    skipped = "".join(f"\n    skipped: {reason}" for reason in sample.skipped)
    return f"  {sample.source}: {sample.input}{point}\n    checked: {checks}{skipped}"


def _reason(skipped: str) -> str:
    """A reason why a check was left out, which may begin with the check's name."""
    check, colon, why = skipped.partition(": ")
    return f"{_CHECKS.get(check, check)}{colon}{why}"


def _unchecked(verdicts: Iterable[tuple[Code, Verdict]]) -> list[str]:
    """The Nodes that are not checked, by reason."""
    by_reason: dict[str, list[str]] = {}
    for code, verdict in verdicts:
        if verdict.reason:
            by_reason.setdefault(verdict.reason, []).append(code.subject.name)
    return [f"not checked: {', '.join(names)}: {reason}" for reason, names in by_reason.items()]


PRINTED: dict[str, Any] = {"verify": Report}
