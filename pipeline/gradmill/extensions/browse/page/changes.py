"""The changes since another spec set, operator by operator: the report of `diff`, for pages."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from gradmill.extensions.browse.page.names import page_of, safe
from gradmill.model.native import FunctionSummary
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.reports.diff.compare import compare
from gradmill.reports.diff.facts import Autograd, read_autograd
from gradmill.reports.diff.html import mark
from gradmill.reports.diff.model import Change, Kind, OpChange, Part, Report
from gradmill.reports.diff.text import describe
from gradmill.stages.schemas import all_heads

AGAINST = "against"  # the input with the facts of the other set; missing if nothing is compared
VERSION = "version"  # the input with the release that the set declares


class Marked(Struct, frozen=True, array_like=True):
    """A change, with both sides as HTML."""

    title: str
    names: str
    before: str
    after: str


class Changed(Struct, frozen=True, array_like=True):
    """The changes of an operator."""

    label: str
    anchor: str
    link: str  # the operator's page, "" if this set has none
    note: str
    kinds: tuple[str, ...]
    changes: tuple[Marked, ...]


@query
def autograd(db: Database) -> Autograd:
    """The facts of this set."""
    return read_autograd(db, (db.input(VERSION) or b"").decode())


@query
def is_compared(db: Database) -> bool:
    """Whether there is another set to compare with."""
    return db.input(AGAINST) is not None


@query
def report(db: Database) -> Report | None:
    """The comparison with the other set; None if nothing is compared."""
    data = db.input(AGAINST)
    return None if data is None else compare(msgspec.msgpack.decode(data, type=Autograd), autograd(db))


@table
def changes(db: Database) -> dict[str, list[Changed]]:
    """The changes of each page. Removed operators have the key ""."""
    by_page: dict[str, list[Changed]] = {}
    compared = report(db)
    if compared is not None:
        pages: dict[str, FunctionSummary] = {head.schema: head for _, head in all_heads(db)}
        for each in compared.ops:
            head = pages.get(each.after.schema) if each.after is not None else None
            page = "" if head is None else page_of(head)
            by_page.setdefault(page, []).append(_changed(each, page))
    return by_page


def _changed(each: OpChange, page: str) -> Changed:
    shown = [change for change in each.changes if change.part is not Part.NODE or change.kind is Kind.RENUMBERED]
    note = f"as {each.follows}" if each.follows else each.note
    kinds = tuple(kind.label for kind in each.kinds)
    return Changed(each.label, safe(each.label), page, note, kinds, tuple(map(_marked, shown)))


def _marked(change: Change) -> Marked:
    title = change.part.label.format("").strip()
    return Marked(title, ", ".join(change.names), *mark(change.before, change.after))


def sides(compared: Report) -> tuple[str, str]:
    """The two sides of the comparison, as text."""
    return describe(compared.before), describe(compared.after)
