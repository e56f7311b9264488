"""Renders a comparison as one self-contained HTML page: counts, a filter, old and new next to each other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from html import escape
from string import Template

from gradmill.reports.diff.model import Change, EntryChange, Kind, OpChange, Part, Report, Section, Side
from gradmill.reports.diff.text import LISTED, counted, describe, place

_TOKENS = re.compile(r"\w+|\s+|[<>=!]=|->|::|&&|\|\||.", re.DOTALL)

# Below this similarity ratio, highlighting single tokens is noise.
_ALIKE = 0.3


def render(report: Report) -> str:
    """The HTML of a page that compares two spec sets. It refers to no other file."""
    title = f"Autograd from {describe(report.before)} to {describe(report.after)}"
    return page().substitute(
        title=escape(title),
        figures=_figures(report.before, report.after),
        chips="".join(_chips(report)),
        body="".join(_sections(report)),
    )


def page() -> Template:
    """The page's template: structure, style and the filter's script."""
    with open(os.path.join(os.path.dirname(__file__), "page.html"), encoding="utf-8") as file:
        return Template(file.read())


def _figures(before: Side, after: Side) -> str:
    """The totals, and the legend of the two colours."""
    return (
        f"operators in derivatives.yaml: {before.operators} → {after.operators} · "
        f"Nodes: {before.nodes} → {after.nodes} · "
        f'<span class="side old">{escape(describe(before))}</span> '
        f'<span class="side new">{escape(describe(after))}</span>'
    )


def _chips(report: Report) -> Iterator[str]:
    """A button per kind of change, with its count; it filters the operators."""
    for count in report.counts:
        if number := count.operators + count.foreach:
            kind, label = count.kind.value, count.kind.label
            yield f'<button type="button" aria-pressed="false" data-kind="{kind}">{label}<b>{number}</b></button>\n'


def _sections(report: Report) -> Iterator[str]:
    if not report.ops and not report.sections:
        yield "<p>No differences.</p>\n"
    renumbered = [op for op in report.ops if op.kinds == [Kind.RENUMBERED]]
    shown = [op for op in report.ops if op not in renumbered]
    anchors = {op.op for op in report.ops if op.dispatch_key == "Default"}
    yield from section_of("Operators", map(_article, (op for op in shown if not op.follows)))
    yield from section_of("Renumbered, nothing else", map(_moved, renumbered), "ul")
    yield from section_of(
        "Foreach functions: their formulas follow those of other operators",
        (_folded(op, anchors) for op in shown if op.follows),
    )
    for section in report.sections:
        title = section.title[0].upper() + section.title[1:]
        entries = (_entry(change, section) for change in section.changes)
        yield from section_of(f"{title}: {counted(section.changes)}", entries)


def section_of(title: str, items: Iterable[str], element: str = "div") -> Iterator[str]:
    text = "".join(items)
    if text:
        yield f'<section>\n<h2>{title}</h2>\n<{element} class="plain">\n{text}</{element}>\n</section>\n'


def _data(op: OpChange) -> str:
    """The attributes of an operator's element: its anchor, and what the filter reads."""
    nodes = [seen.node for seen in (op.before, op.after) if seen and seen.node]
    name = escape(" ".join((op.label, *nodes)).lower())
    return f'id="{anchor(op)}" data-kinds="{" ".join(kind.value for kind in op.kinds)}" data-name="{name}"'


def anchor(op: OpChange) -> str:
    """The fragment that links to an operator."""
    return escape(op.op if op.dispatch_key == "Default" else f"{op.op}-{op.dispatch_key}")


def _article(op: OpChange) -> str:
    return f'<article {_data(op)}>\n<div class="head">{_head(op)}</div>\n{_table(op)}</article>\n'


def _folded(op: OpChange, anchors: set[str]) -> str:
    """A foreach function, with a link to the operator that it follows if that one changed too."""
    name = escape(op.follows)
    link = f'<a href="#{name}">{name}</a>' if op.follows in anchors else name
    head = f'{_head(op)} <span class="where">· as {link}</span>'
    return f"<article {_data(op)}>\n<details><summary>{head}</summary>\n{_table(op)}</details></article>\n"


def _moved(op: OpChange) -> str:
    assert op.before and op.after
    nodes = f"{escape(op.before.node or '')} → {escape(op.after.node or '')}"
    return f"<li {_data(op)}><code>{escape(op.label)}</code> {nodes}</li>\n"


def _entry(change: EntryChange, section: Section) -> str:
    """An entry of a family, with the texts that were removed and added."""
    name, sides = escape(change.name), {"old": change.before, "new": change.after}
    fragment = f"{section.family}-{name.replace(' ', '-')}"
    cells = "".join(_cell("<br>".join(map(escape, texts)), side) for side, texts in sides.items())
    head = f'<h3><code>{name}</code></h3><span class="tag">{change.change}</span>'
    return (
        f'<article id="{fragment}" data-kinds="{section.family}" data-name="{name.lower()}">\n'
        f'<div class="head">{head}</div>\n<table>\n<tr><th>{section.texts}</th>{cells}</tr>\n</table>\n</article>\n'
    )


def _head(op: OpChange) -> str:
    seen = op.after or op.before
    assert seen is not None
    tags = "".join(f'<span class="tag {kind.value}">{kind.label}</span>' for kind in op.kinds)
    where = " · ".join(filter(None, (seen.node, place(seen), op.note)))
    name = f'<h3><a href="#{anchor(op)}"><code>{escape(op.label)}</code></a></h3>'
    return f'{name}{tags}<span class="where">{escape(where)}</span>'


def _table(op: OpChange) -> str:
    changes = [c for c in op.changes if c.part is not Part.NODE or c.kind is Kind.RENUMBERED]
    return f"<table>\n{''.join(map(_row, changes))}</table>\n"


def _row(change: Change) -> str:
    names = f"<code>{escape(', '.join(change.names))}</code>" if change.names else ""
    title = change.part.label.format(names)
    if change.part in LISTED:
        title += f" {names}"
    old, new = mark(change.before, change.after)
    if change.kind in (Kind.ADDED, Kind.REMOVED):
        cells = _cell(new, "new", 2) if change.kind is Kind.ADDED else _cell(old, "old", 2)
    else:
        cells = _cell(old, "old") + _cell(new, "new")
    return f"<tr><th>{title}</th>{cells}</tr>\n"


def _cell(text: str, side: str, columns: int = 1) -> str:
    if not text:
        return '<td class="none">—</td>'
    return f'<td class="{side}" colspan="{columns}"><code>{text}</code></td>'


def mark(before: str, after: str) -> tuple[str, str]:
    """Both texts as HTML, with the differing tokens marked."""
    left, right = _TOKENS.findall(before), _TOKENS.findall(after)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if not before or not after or matcher.ratio() < _ALIKE:
        return escape(before), escape(after)
    old, new = [], []
    for what, i, j, k, m in matcher.get_opcodes():
        deleted, inserted = escape("".join(left[i:j])), escape("".join(right[k:m]))
        old.append(f"<del>{deleted}</del>" if what != "equal" and deleted else deleted)
        new.append(f"<ins>{inserted}</ins>" if what != "equal" and inserted else inserted)
    return "".join(old), "".join(new)
