"""The changes of generated code since another spec set, for the list of changes: the report of `diff --code`, cut to
what a page can hold."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from gradmill.query.database import Database
from gradmill.reports.diff.code_changes import CodeChange, CodeReport
from gradmill.reports.diff.code_html import hunk_html
from gradmill.reports.diff.code_text import summary, title
from gradmill.reports.diff.hunks import Hunk

CODE = "against code"  # the input with these changes; missing if nothing is compared
MOST = 400_000  # characters of all hunks
_LINES = 150  # of one change


class CodeShown(Struct, frozen=True, array_like=True):
    """A change: what it is of, its hunks as HTML, and the number of lines that are left out."""

    title: str
    hunks: tuple[str, ...]
    left: int


class CodeChanges(Struct, frozen=True, array_like=True):
    """The changes that are shown, and the number of the others."""

    summary: str
    count: int
    shown: tuple[CodeShown, ...]

    @property
    def left(self) -> int:
        """How many are not shown."""
        return self.count - len(self.shown)


def shown(report: CodeReport) -> CodeChanges:
    """The first changes of a report, as many as fit."""
    listed: list[CodeShown] = []
    size = 0
    for change in report.changes:
        each = _shown(change)
        size += len(each.title) + sum(map(len, each.hunks))
        if listed and size > MOST:
            break
        listed.append(each)
    return CodeChanges(summary(report), len(report.changes), tuple(listed))


def _shown(change: CodeChange) -> CodeShown:
    hunks, left = [], _LINES
    for hunk in change.hunks:
        if left > 0:
            hunks.append(hunk_html(Hunk(hunk.head, hunk.lines[:left])))
        left -= len(hunk.lines)
    return CodeShown(title(change), tuple(hunks), max(-left, 0))


def code_changes(db: Database) -> CodeChanges | None:
    """The changes; None if nothing is compared."""
    data = db.input(CODE)
    return None if data is None else msgspec.msgpack.decode(data, type=CodeChanges)
