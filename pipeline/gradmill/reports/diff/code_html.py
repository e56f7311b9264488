"""Renders a comparison of generated code as one self-contained HTML page, on the template of `html.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import groupby
from operator import attrgetter

from gradmill.reports.diff.code_changes import CodeReport
from gradmill.reports.diff.code_text import summary, title
from gradmill.reports.diff.html import page
from gradmill.reports.diff.hunks import Hunk
from gradmill.reports.diff.text import describe

_SIGNS = {"-": "del", "+": "ins"}


def render(report: CodeReport) -> str:
    """The HTML of a page with each change of generated code, by file. It refers to no other file."""
    counts = sorted(Counter(change.change for change in report.changes).items())
    return page(
        "code.html",
        title=f"Generated code from {describe(report.before)} to {describe(report.after)}",
        chips=[(kind, kind, number) for kind, number in counts],
        summary=summary(report),
        files=[(file, list(own)) for file, own in groupby(report.changes, attrgetter("file"))],
        title_of=title,
        hunk_html=hunk_html,
    )


def hunk_html(hunk: Hunk) -> str:
    """A hunk as an element of HTML, escaped, with marks at the lines that were removed and added."""
    head, text = escape(hunk.head), "".join(_lines(hunk))
    return f'<pre tabindex="0"><code><span class="where">{head}</span>\n{text}</code></pre>\n'


def _lines(hunk: Hunk) -> Iterator[str]:
    for line in hunk.lines:
        element = _SIGNS.get(line[0])
        yield f"<{element}>{escape(line)}</{element}>\n" if element else f"{escape(line)}\n"
