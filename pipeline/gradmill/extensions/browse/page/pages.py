"""The files of the folder. Each is a query from the contents to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gradmill.extensions.browse.page import added, lists
from gradmill.extensions.browse.page.callers import (
    callers,
    callers_in_added,
    declaration_anchor,
    header_lines,
    headers,
    helpers,
    node_place,
    target_of,
)
from gradmill.extensions.browse.page.changes import changes, is_compared, report, sides
from gradmill.extensions.browse.page.code_changes import code_changes
from gradmill.extensions.browse.page.model import Operator, Ref, Unit
from gradmill.extensions.browse.page.names import helper_page, operator_page_of, source_page
from gradmill.extensions.browse.page.relations import members
from gradmill.extensions.browse.page.site import JINJA, MARK, fill
from gradmill.extensions.browse.page.sources import blocks, entries_at, header_blocks, source_files
from gradmill.extensions.browse.page.subjects import all_summaries, operator
from gradmill.extensions.browse.page.verdicts import verdicts
from gradmill.families.family import Family
from gradmill.query.database import Database
from gradmill.query.query import Query, query, unkept
from gradmill.reports.calls import Call
from gradmill.stages.emit import text

__all__ = ["JINJA", "MARK", "bytes_of", "files", "stage"]

File = tuple[Any, ...]  # the query that returns a file's bytes, and its key


@unkept
def operator_page(db: Database, layout: str, shards: int, page: str) -> bytes:
    """The page of an operator."""
    shown = operator(db, layout, shards, page)
    compared = changes.item(db, page) or []
    return fill(
        db,
        "operator",
        "../",
        op=shown,
        title=_title(shown),
        code={(unit.family, unit.name): text(db, unit.family, unit.name) for unit in _units(shown)},
        link=_Links(db).link,
        users=callers.item(db, operator_page_of(page)) or [],
        within=callers_in_added.item(db, page) or [],
        within_of=[callers_in_added.item(db, node_place(page, each.anchor)) or [] for each in shown.derivatives],
        changes=compared,
        against=against_name(db) if compared else "",
        verdicts={each.node: verdicts.item(db, each.node) for each in shown.derivatives if each.node},
    )


class _Links:
    """The addresses of what formulas call, from an operator's page; each is looked up once."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[Call, str] = {}

    def link(self, call: Call) -> str:
        """The address of what a formula calls, "" if it has no page."""
        if call not in self._known:
            page = target_of(self._db, call)
            self._known[call] = f"../{page}.html" if page else ""
        return self._known[call]


def _title(shown: Operator) -> str:
    """The operator's name, with its namespace unless that is PyTorch's."""
    base = shown.page.removeprefix(f"{shown.namespace}.")
    return base if base == shown.page else f"{shown.namespace}::{base}"


def _units(shown: Operator) -> Iterator[Unit]:
    for derivative in shown.derivatives:
        if derivative.unit is not None:
            yield derivative.unit
    for function in shown.functions:
        yield from function.units


@query
def against_name(db: Database) -> str:
    """The name of the set that this one is compared with; "" if nothing is compared."""
    compared = report(db)
    return "" if compared is None else sides(compared)[0]


# ---- helpers, functions in files of extensions


@unkept
def helper(db: Database, name: str) -> bytes:
    """The page of a helper."""
    before: dict[str, int] = {}  # declarations of the same header
    declared = []
    for file, declaration in helpers.item(db, name) or ():
        anchor = declaration_anchor(name, before.get(file, 0))
        declared.append((file, source_page(file), anchor, declaration))
        before[file] = before.get(file, 0) + 1
    users = callers.item(db, helper_page(name)) or []
    return fill(db, "helper", "../", name=name, declared=declared, users=users)


@unkept
def added_page(db: Database, layout: str, shards: int, extension: str, file: str, name: str) -> bytes:
    """The page of a function in a file that an extension reads."""
    shown = added.function_shown(db, layout, shards, extension, file, name)
    return fill(db, "added", "../", function=shown, code=text(db, shown.unit.family, shown.unit.name))


# ---- the changes, the sources


@unkept
def change_list(db: Database) -> bytes:
    """The list of changes since another set."""
    compared = report(db)
    assert compared is not None
    ops = sorted((each for page in changes(db).values() for each in page), key=lambda each: each.label.lstrip("_"))
    counts: dict[str, int] = {}
    for kind in (kind for each in ops for kind in each.kinds):
        counts[kind] = counts.get(kind, 0) + 1
    before, after = sides(compared)
    return fill(
        db,
        "changes",
        "",
        before=before,
        after=after,
        operators=ops,
        counts=list(counts.items()),
        code=code_changes(db),
    )


@unkept
def source(db: Database, file: str) -> bytes:
    """The page of a spec file."""
    return fill(db, "source", "../", file=file, blocks=blocks(db, source_files(db)[file]))


@unkept
def header(db: Database, name: str) -> bytes:
    """The page of a header that declares helpers."""
    return fill(db, "source", "../", file=name, blocks=header_blocks(db, name))


# ---- data and plain files

_COMMENT = f"/* {MARK} */\n".encode()


@unkept
def search(db: Database, layout: str, shards: int) -> bytes:
    """The search index: the page, functions and Nodes of each operator."""
    index = [
        [each.page, [one.title for one in each.functions], [node for node, _ in each.nodes]]
        for each in all_summaries(db, layout, shards)
    ]
    return _COMMENT + b"window.INDEX = " + _by_line(map(msgspec.json.encode, index)) + b";\n"


@unkept
def more(db: Database) -> bytes:
    """The search index of what is not an operator: the kind, the name, the address."""
    index = [["helper", name, f"{helper_page(name)}.html"] for name in db.names(helpers)]
    index += [[family.unit, ref.title, f"{ref.page}.html"] for family, _, ref in _added(db)]
    return _COMMENT + b"window.MORE = " + _by_line(map(msgspec.json.encode, index)) + b";\n"


@unkept
def lines(db: Database) -> bytes:
    """The line of each entry and of each declaration, by file."""
    found = {source_page(file): entries_at(db, keys) for file, keys in source_files(db).items()}
    found |= {page: header_lines(db, name) for name, page in headers(db).items()}
    by_file = (msgspec.json.encode(page) + b": " + msgspec.json.encode(at) for page, at in found.items())
    return _COMMENT + b"window.LINES = {\n" + b",\n".join(by_file) + b"\n};\n"


def _by_line(items: Any) -> bytes:
    return b"[\n" + b",\n".join(items) + b"\n]"


@unkept
def plain(db: Database, name: str) -> bytes:
    """A file with the same contents for all sets."""
    from gradmill.extensions.browse.page.html.render import plain as read

    return _COMMENT + read(name)


# ---- all files


def files(db: Database, layout: str, shards: int) -> dict[str, File]:
    """All files of the folder by path, each with its query and key."""
    at = (layout, shards)
    return {
        "index.html": (lists.overview, *at),
        "operators.html": (lists.operators, *at),
        "functions.html": (lists.functions, *at),
        "nodes.html": (lists.nodes, *at),
        "helpers.html": (lists.helper_list,),
        "lineage.html": (lists.lineage_page, *at),
        **{f"{family.row.source}.html": (lists.added_list, *at, family.name) for family in added.families(db)},
        **({"changes.html": (change_list,)} if is_compared(db) else {}),
        "search.js": (search, *at),
        "more.js": (more,),
        "lines.js": (lines,),
        "page.js": (plain, "page.js"),
        "page.css": (plain, "page.css"),
        **{f"source/{source_page(file)}.html": (source, file) for file in source_files(db)},
        **{f"source/{page}.html": (header, name) for name, page in headers(db).items()},
        **{f"{operator_page_of(page)}.html": (operator_page, *at, page) for page in db.names(members)},
        **{f"{helper_page(name)}.html": (helper, name) for name in db.names(helpers)},
        **{f"{ref.page}.html": (added_page, *at, family.row.source, *key) for family, key, ref in _added(db)},
    }


def _added(db: Database) -> Iterator[tuple[Family, tuple[str, str], Ref]]:
    for family in added.families(db):
        yield from ((family, key, ref) for key, ref in added.functions(db, family.row.source))


@query
def stage(db: Database, layout: str, shards: int) -> int:
    """Brings all files up to date; returns their number."""
    return len([db.digest(give, *key) for give, *key in files(db, layout, shards).values()])


def bytes_of(db: Database, file: File) -> bytes:
    """The bytes of a file."""
    give: Query[Any, bytes] = file[0]
    return give(db, *file[1:])
