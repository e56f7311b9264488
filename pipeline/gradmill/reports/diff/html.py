"""Renders a comparison as one self-contained HTML page: counts, a filter, old and new next to each other."""

from __future__ import annotations

import os
import re
from difflib import SequenceMatcher
from html import escape

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gradmill.reports.diff.model import Kind, OpChange, Report
from gradmill.reports.diff.text import LISTED, counted, describe, place, sections

_TOKENS = re.compile(r"\w+|\s+|[<>=!]=|->|::|&&|\|\||.", re.DOTALL)

# Below this similarity ratio, highlighting single tokens is noise.
_ALIKE = 0.3


def render(report: Report) -> str:
    """The HTML of a page that compares two spec sets. It refers to no other file."""
    counts = [(each.kind.value, each.kind.label, each.operators + each.foreach) for each in report.counts]
    shown = [op for op in report.ops if op.kinds != [Kind.RENUMBERED]]
    return page(
        "autograd.html",
        title=f"Autograd from {describe(report.before)} to {describe(report.after)}",
        chips=[each for each in counts if each[2]],
        report=report,
        sections=sections(report),
        own=[op for op in shown if not op.follows],
        foreach=[op for op in shown if op.follows],
        renumbered=[op for op in report.ops if op not in shown],
        anchors={op.op for op in report.ops if op.dispatch_key == "Default"},
    )


def page(template: str, **values: object) -> str:
    """A page from a template next to this module. Templates escape values by `h`."""
    environment = Environment(  # noqa: S701
        loader=FileSystemLoader(os.path.dirname(__file__)),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters["h"] = escape
    functions = {"h": escape, "anchor": anchor, "mark": mark, "place": place, "describe": describe, "counted": counted}
    return environment.get_template(template, globals={**functions, "LISTED": LISTED}).render(values)


def anchor(op: OpChange) -> str:
    """The fragment that links to an operator."""
    return escape(op.op if op.dispatch_key == "Default" else f"{op.op}-{op.dispatch_key}")


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
