"""Renders a comparison as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gradmill.problems.plain import lines
from gradmill.reports.diff.entries import COMPARED, Compared
from gradmill.reports.diff.model import Change, EntryChange, Kind, OpChange, Part, Report, Seen, SetSide

_NAMES_WIDTH = 60  # of the names in a line of the summary

LISTED = (Part.SAVED, Part.VARIANTS)  # parts with one line per change


def render(report: Report) -> str:
    """The text: both sides, the totals, then every operator."""
    return lines(_lines(report))


def describe(side: SetSide) -> str:
    """A spec set and its release, as text."""
    version = side.version or side.release
    return side.specs if side.specs.endswith(version) else f"{side.specs} (PyTorch {version})"


def place(seen: Seen) -> str:
    """The place of an operator's entry, as text."""
    return f"derivatives.yaml:{seen.line}"


def _lines(report: Report) -> Iterator[str]:
    before, after = report.before, report.after
    yield f"autograd from {describe(before)} to {describe(after)}"
    yield f"operators in derivatives.yaml: {before.operators} -> {after.operators}"
    yield f"Nodes: {before.nodes} -> {after.nodes}"
    yield ""
    families = sections(report)
    if not report.ops and not families:
        yield "no differences"
        return
    if report.ops:
        yield from _summary(report)
    renumbered = [op for op in report.ops if op.kinds == [Kind.RENUMBERED]]
    shown = [op for op in report.ops if op not in renumbered]
    for op in shown:
        if not op.follows:
            yield ""
            yield from _op(op)
    yield from _titled(f"{Kind.RENUMBERED.label}, nothing else", map(_renumbered, renumbered))
    title = "foreach functions: their formulas follow those of other operators"
    yield from _titled(title, (_foreach(op) for op in shown if op.follows))
    for family, changes in families:
        texts = (text for each in changes for text in _entry(each))
        yield from _titled(f"{family.title}: {counted(changes)}", texts)


def _summary(report: Report) -> Iterator[str]:
    yield f"{'':28}operators  foreach"
    for count in report.counts:
        if count.operators or count.foreach:
            names = [op.label for op in report.ops if count.kind in op.kinds and not op.follows]
            yield f"{count.kind.label:28}{count.operators:9}{count.foreach:9}  {_shortened(names)}".rstrip()
    total = sum(bool(op.follows) for op in report.ops)
    yield f"{'in all':28}{len(report.ops) - total:9}{total:9}"


def _shortened(names: list[str]) -> str:
    """As many names as fit into the line."""
    text = ", ".join(names)
    return text if len(text) <= _NAMES_WIDTH else text[:_NAMES_WIDTH].rpartition(", ")[0] + ", …"


def _op(op: OpChange) -> Iterator[str]:
    seen = op.after or op.before
    assert seen is not None
    yield f"{op.label}  {', '.join(kind.label for kind in op.kinds)}{f' ({op.note})' if op.note else ''}"
    yield f"  {'  '.join(filter(None, (seen.node, place(seen))))}"
    for part in Part:
        changes = [change for change in op.changes if change.part is part]
        if part is Part.NODE and Kind.RENUMBERED not in op.kinds:
            continue
        if changes and part in LISTED:
            yield f"  {part.label}"
            yield from _listed(changes)
        else:
            for change in changes:
                yield f"  {part.label.format(', '.join(change.names))}"
                yield from _sides(change, "")


def _listed(changes: list[Change]) -> Iterator[str]:
    for change in changes:
        for name in change.names:
            yield from _sides(change, f"{name}: ")


def _sides(change: Change, name: str) -> Iterator[str]:
    if change.before:
        yield f"    - {name}{change.before}"
    if change.after:
        yield f"    + {name}{change.after}"


def _titled(title: str, texts: Iterable[str]) -> Iterator[str]:
    """An empty line, a title, and the texts below it; nothing without texts."""
    for number, text in enumerate(texts):
        if not number:
            yield from ("", title)
        yield f"  {text}"


def _renumbered(op: OpChange) -> str:
    assert op.before and op.after
    return f"{op.label}  {op.before.node} -> {op.after.node}"


def _foreach(op: OpChange) -> str:
    """The kinds of change only, because the formulas are those of another operator."""
    return f"{op.label}  as {op.follows}: {', '.join(kind.label for kind in op.kinds)}"


def _entry(entry: EntryChange) -> Iterator[str]:
    yield f"{entry.name}  {entry.change}"
    yield from (f"  - {text}" for text in entry.before)
    yield from (f"  + {text}" for text in entry.after)


def sections(report: Report) -> list[tuple[Compared, Sequence[EntryChange]]]:
    """The families with entries that differ, with these."""
    listed = ((each, getattr(report, each.family)) for each in COMPARED)
    return [(each, changes) for each, changes in listed if changes]


def counted(changes: Sequence[EntryChange]) -> str:
    """How many entries changed in which way: `2 added, 1 removed`."""
    counts = Counter(each.change for each in changes)
    return ", ".join(f"{counts[change]} {change}" for change in sorted(counts))
