"""Renders a comparison of generated code as one self-contained HTML page, on the template of `html.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import groupby

from gradmill.reports.diff.code_changes import CodeChange, CodeReport
from gradmill.reports.diff.code_text import summary, title
from gradmill.reports.diff.html import page, section_of
from gradmill.reports.diff.hunks import Hunk
from gradmill.reports.diff.text import describe

_SIGNS = {"-": "del", "+": "ins"}


def render(report: CodeReport) -> str:
    """The HTML of a page with each change of generated code, by file. It refers to no other file."""
    head = f"Generated code from {describe(report.before)} to {describe(report.after)}"
    chips = (
        f'<button type="button" aria-pressed="false" data-kind="{kind}">{kind}<b>{number}</b></button>\n'
        for kind, number in sorted(Counter(change.change for change in report.changes).items())
    )
    body = (
        part
        for file, listed in groupby(report.changes, lambda change: change.file)
        for part in section_of(escape(file) or "Around units", map(_article, listed))
    )
    return page().substitute(
        title=escape(head), figures=escape(summary(report)), chips="".join(chips), body="".join(body)
    )


def _article(change: CodeChange) -> str:
    names = escape(" ".join(f"{each.op} {each.name}" for each in change.names).lower())
    head = f'<div class="head"><h3><code>{escape(title(change))}</code></h3></div>'
    hunks = "".join(map(hunk_html, change.hunks))
    return f'<article data-kinds="{change.change}" data-name="{names}">\n{head}\n{hunks}</article>\n'


def hunk_html(hunk: Hunk) -> str:
    """A hunk as an element of HTML, escaped, with marks at the lines that were removed and added."""
    head, text = escape(hunk.head), "".join(_lines(hunk))
    return f'<pre tabindex="0"><code><span class="where">{head}</span>\n{text}</code></pre>\n'


def _lines(hunk: Hunk) -> Iterator[str]:
    for line in hunk.lines:
        element = _SIGNS.get(line[0])
        yield f"<{element}>{escape(line)}</{element}>\n" if element else f"{escape(line)}\n"
