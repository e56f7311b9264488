"""The files of the folder, each a query: from what there is to say to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from pipeline.query.database import Database
from pipeline.query.query import Query, query, unkept
from pipeline.reports.coverage import order, totals_of
from pipeline.reports.page.changes import changes, report, sides
from pipeline.reports.page.model import Operator, Unit
from pipeline.reports.page.names import source_page
from pipeline.reports.page.relations import members
from pipeline.reports.page.sources import blocks, entries_at, source_files
from pipeline.reports.page.subjects import all_summaries, operator
from pipeline.stages.emit import text
from pipeline.stages.set import RELEASE, spec_set

JINJA = "jinja"  # the input that stands for the library that fills templates

File = tuple[Any, ...]  # the query that gives a file's bytes, and its key


class Site(Struct, frozen=True, array_like=True):
    """What every page says of the set."""

    specs: str
    release: str


def _page(db: Database, template: str, root: str, **values: Any) -> bytes:
    """A page."""
    from pipeline.reports.page.html.render import render

    db.input(JINJA)
    site = Site(spec_set(db).name, (db.input(RELEASE) or b"").decode())
    return render(f"{template}.html", {"site": site, "root": root, "here": template, **values})


@unkept
def operator_page(db: Database, layout: str, shards: int, page: str) -> bytes:
    """The page of an operator."""
    found = operator(db, layout, shards, page)
    compared = changes.item(db, page) or []
    return _page(
        db,
        "operator",
        "../",
        op=found,
        title=_title(found),
        code={(unit.family, unit.name): text(db, unit.family, unit.name) for unit in _units(found)},
        inputs=[_arguments(each.schema) for each in found.derivatives],
        changes=[_unescaped(each) for each in compared],
        against=against_name(db) if compared else "",
    )


def _title(found: Operator) -> str:
    """The operator, with its namespace where that is not PyTorch's."""
    base = found.page.removeprefix(f"{found.namespace}.")
    return base if base == found.page else f"{found.namespace}::{base}"


def _units(found: Operator) -> Iterator[Unit]:
    for derivative in found.derivatives:
        if derivative.unit is not None:
            yield derivative.unit
    for function in found.functions:
        yield from function.units


def _arguments(schema: str) -> list[str]:
    """The names of the arguments of a schema."""
    inside = schema.partition("(")[2].rpartition(") -> ")[0]
    return [each.partition("=")[0].rpartition(" ")[2] for each in inside.split(", ")]


def _unescaped(changed: Any) -> dict[str, Any]:
    """A change whose two sides are HTML already."""
    from pipeline.reports.page.html.render import marked

    rows = [
        {"title": each.title, "names": each.names, "before": marked(each.before), "after": marked(each.after)}
        for each in changed.changes
    ]
    return {
        "label": changed.label,
        "anchor": changed.anchor,
        "link": changed.link,
        "note": changed.note,
        "changes": rows,
    }


@query
def against_name(db: Database) -> str:
    """The set that this one is compared with, in words."""
    compared = report(db)
    return "" if compared is None else sides(compared)[0]


# ---- pages about all of them


@unkept
def overview(db: Database, layout: str, shards: int) -> bytes:
    """The first page."""
    found = all_summaries(db, layout, shards)
    rows = [row for each in found for row in each.rows if row.node]
    totals = totals_of(rows)
    tiles = (
        (len(found), "operators", "operators.html"),
        (sum(len(each.functions) for each in found), "functions", "operators.html"),
        (totals.nodes, "Nodes", "nodes.html"),
        (totals.saved_tensors, "saved tensors", "nodes.html"),
        *_change_tile(db),
    )
    bars = (
        ("Nodes with a forward derivative", totals.forward, totals.nodes),
        ("Nodes that save tensors", totals.saving_tensors, totals.nodes),
        ("Nodes that save nothing", totals.saving_nothing, totals.nodes),
        ("Nodes with a gradient that is not implemented", totals.some_not_implemented, totals.nodes),
        ("Differentiable functions with a forward derivative", totals.functions_forward, totals.functions),
    )
    sources = [(source_page(file), file, len(entries_at(db, keys))) for file, keys in source_files(db).items()]
    return _page(db, "overview", "", tiles=tiles, bars=bars, sources=sources)


def _change_tile(db: Database) -> Iterator[tuple[int, str, str]]:
    compared = report(db)
    if compared is not None:
        yield len(compared.ops), f"changed since {sides(compared)[0]}", "changes.html"


TRAITS = (
    ("derivative", "own formulas"),
    ("forward", "forward mode"),
    ("view", "views"),
    ("inplace", "in-place"),
    ("foreach", "foreach"),
    ("composite", "composite"),
)
NODE_TRAITS = (
    ("forward", "forward mode"),
    ("reverse-only", "no forward mode"),
    ("missing", "not implemented"),
    ("saves", "saves tensors"),
    ("foreach", "foreach"),
)


@unkept
def operators(db: Database, layout: str, shards: int) -> bytes:
    """The list of all operators."""
    return _page(db, "operators", "", found=all_summaries(db, layout, shards), traits=TRAITS)


@unkept
def nodes(db: Database, layout: str, shards: int) -> bytes:
    """The list of all Nodes."""
    found = []
    for each in all_summaries(db, layout, shards):
        for row in each.rows:
            traits = {
                "forward": bool(row.forward),
                "reverse-only": not row.forward,
                "missing": bool(row.not_implemented),
                "saves": any(saved.tensor for saved in row.saves),
                "foreach": row.synthesized,
            }
            if row.node:
                found.append((each.page, row.node, row, [name for name, has in traits.items() if has]))
    found.sort(key=lambda item: order(item[2]))
    return _page(db, "nodes", "", found=found, traits=NODE_TRAITS)


@unkept
def change_list(db: Database) -> bytes:
    """What changed since another set."""
    compared = report(db)
    if compared is None:
        return _page(db, "changes", "", report=None, before="", after="", operators=[], counts=[])
    found = sorted((each for page in changes(db).values() for each in page), key=lambda each: each.label.lstrip("_"))
    counts: dict[str, int] = {}
    for kind in (kind for each in found for kind in each.kinds):
        counts[kind] = counts.get(kind, 0) + 1
    before, after = sides(compared)
    listed = [_unescaped(each) for each in found]
    return _page(
        db, "changes", "", report=True, before=before, after=after, operators=listed, counts=list(counts.items())
    )


@unkept
def source(db: Database, file: str) -> bytes:
    """A spec file."""
    from pipeline.reports.page.html.render import marked

    return _page(db, "source", "../", file=file, blocks=list(map(marked, blocks(db, source_files(db)[file]))))


# ---- data and plain files

_MARK = b"/* @" + b"generated by gradmill */\n"


@unkept
def search(db: Database, layout: str, shards: int) -> bytes:
    """What can be searched for: of each operator the page, the functions, the Nodes."""
    found = [
        [each.page, each.functions, [node for node, _ in each.nodes]] for each in all_summaries(db, layout, shards)
    ]
    return _MARK + b"window.FOUND = " + _by_line(map(msgspec.json.encode, found)) + b";\n"


@unkept
def lines(db: Database) -> bytes:
    """The line of each entry, by file."""
    found = (
        msgspec.json.encode(source_page(file)) + b": " + msgspec.json.encode(entries_at(db, keys))
        for file, keys in source_files(db).items()
    )
    return _MARK + b"window.LINES = {\n" + b",\n".join(found) + b"\n};\n"


def _by_line(items: Any) -> bytes:
    return b"[\n" + b",\n".join(items) + b"\n]"


@unkept
def plain(db: Database, name: str) -> bytes:
    """A file that is the same for all sets."""
    from pipeline.reports.page.html.render import plain as read

    return read(name)


# ---- all of them


def files(db: Database, layout: str, shards: int) -> dict[str, File]:
    """All files of the folder, and what gives each."""
    at = (layout, shards)
    return {
        "index.html": (overview, *at),
        "operators.html": (operators, *at),
        "nodes.html": (nodes, *at),
        "changes.html": (change_list,),
        "search.js": (search, *at),
        "lines.js": (lines,),
        "page.js": (plain, "page.js"),
        "page.css": (plain, "page.css"),
        **{f"source/{source_page(file)}.html": (source, file) for file in source_files(db)},
        **{f"op/{page}.html": (operator_page, *at, page) for page in db.names(members)},
    }


@query
def stage(db: Database, layout: str, shards: int) -> int:
    """All files."""
    return len([db.digest(give, *key) for give, *key in files(db, layout, shards).values()])


def bytes_of(db: Database, file: File) -> bytes:
    """The bytes of a file."""
    give: Query[Any, bytes] = file[0]
    return give(db, *file[1:])
