"""What changed since another spec set, operator by operator: the report of `diff`, for pages."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from pipeline.model.native import FunctionHead
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.reports.diff.compare import compare
from pipeline.reports.diff.facts import Autograd, read_autograd
from pipeline.reports.diff.html import mark
from pipeline.reports.diff.model import LABELS, Change, Kind, OpChange, Part, Report
from pipeline.reports.diff.text import TITLES, describe
from pipeline.reports.page.names import page_of, safe
from pipeline.stages.schemas import all_heads

AGAINST = "against"  # the input that has the facts of the other set; there is none where nothing is compared
VERSION = "version"  # the input that has the release that the set says it is of


class Marked(Struct, frozen=True, array_like=True):
    """A change, its two sides as HTML."""

    title: str
    names: str
    before: str
    after: str


class Changed(Struct, frozen=True, array_like=True):
    """What changed of an operator."""

    label: str
    anchor: str
    link: str  # the page, where the set has the operator
    note: str
    kinds: tuple[str, ...]
    changes: tuple[Marked, ...]


@query
def autograd(db: Database) -> Autograd:
    """The facts of this set."""
    return read_autograd(db, (db.input(VERSION) or b"").decode())


@query
def report(db: Database) -> Report | None:
    """What changed; None where nothing is compared."""
    data = db.input(AGAINST)
    return None if data is None else compare(msgspec.msgpack.decode(data, type=Autograd), autograd(db))


@table
def changes(db: Database) -> dict[str, list[Changed]]:
    """What changed, by the page that shows it; under no page, what is no longer there."""
    found: dict[str, list[Changed]] = {}
    compared = report(db)
    if compared is not None:
        pages: dict[str, FunctionHead] = {head.schema: head for _, head in all_heads(db)}
        for each in compared.ops:
            head = pages.get(each.after.schema) if each.after is not None else None
            page = "" if head is None else page_of(head)
            found.setdefault(page, []).append(_changed(each, page))
    return found


def _changed(each: OpChange, page: str) -> Changed:
    told = [change for change in each.changes if change.part is not Part.NODE or change.kind is Kind.RENUMBERED]
    note = f"as {each.follows}" if each.follows else each.note
    kinds = tuple(LABELS[kind] for kind in each.kinds)
    return Changed(each.label, safe(each.label), page, note, kinds, tuple(map(_marked, told)))


def _marked(change: Change) -> Marked:
    title = TITLES[change.part].format("").strip()
    return Marked(title, ", ".join(change.names), *mark(change.before, change.after))


def sides(compared: Report) -> tuple[str, str]:
    """What is compared with what, in words."""
    return describe(compared.before), describe(compared.after)
