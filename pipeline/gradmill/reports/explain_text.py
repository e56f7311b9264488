"""Explanations as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradmill.problems import plain
from gradmill.reports.explain import Edit, Explanation, first_of, listed

if TYPE_CHECKING:
    from gradmill.reports.origin.lines import Line


def text_of(explained: Explanation | Edit | Line) -> str:
    """The text of an explanation of any kind."""
    if isinstance(explained, Edit):
        return render_edit(explained)
    return render(explained) if isinstance(explained, Explanation) else render_line(explained)


def render(explanation: Explanation) -> str:
    """Explains one object: what it is, what it depends on, what depends on it, and whether it is up to date."""
    lines = [f"{explanation.name}: {explanation.what}"]
    rows = (
        ("made from", explanation.made_from),
        ("used by", explanation.used_by),
        ("made into", explanation.made_into),
    )
    for title, items in rows:
        lines += [f"  {title if i == 0 else '':9}  {item}" for i, item in enumerate(items)]
    lines += [f"  {explanation.verification}"] if explanation.verification else []
    if explanation.reasons:
        lines += [f"  to be rebuilt: {'; '.join(first_of(explanation.reasons))}"]
    else:
        lines += ["  up to date"]
    return plain.lines(lines)


def render_line(line: Line) -> str:
    """Explains a line of a generated file: what it is, and which entries it depends on."""
    sources = [f"{each.file}{f':{each.line}' if each.line else ''} {each.name}".rstrip() for each in line.made_from]
    lines = [f"  {'made from' if i == 0 else ' ' * len('made from')}  {source}" for i, source in enumerate(sources)]
    return plain.lines((f"{line.file}:{line.line}: {line.what}", *lines))


def render_edit(edit: Edit) -> str:
    """A change and its consequences, as one chain."""
    units = listed(edit.units, "units")
    if not units and not edit.files:
        return plain.lines([f"{edit.what} → nothing"])
    files = listed(edit.files, "files") or "no file"
    return plain.lines([" → ".join(filter(None, (edit.what, units, files)))])
