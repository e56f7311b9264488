"""The pages about the whole set: the overview, and the lists of operators, functions, Nodes, helpers, and of functions
in files of extensions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from gradmill.extensions.browse.page import added
from gradmill.extensions.browse.page.callers import callers, header_lines, headers, helpers
from gradmill.extensions.browse.page.changes import report, sides
from gradmill.extensions.browse.page.model import Lineage, LineageFamily, Listed, ListedNode
from gradmill.extensions.browse.page.names import helper_page, safe, source_page
from gradmill.extensions.browse.page.relations import members
from gradmill.extensions.browse.page.site import fill, fill_part
from gradmill.extensions.browse.page.sources import entries_at, source_files
from gradmill.extensions.browse.page.subjects import TRAITS, all_summaries, groups, listed_nodes, summaries
from gradmill.families.family import DERIVATIVES
from gradmill.families.nodes import NODES
from gradmill.families.table import FAMILIES
from gradmill.model.entries import by_key
from gradmill.model.layers import role_of
from gradmill.query.database import Database
from gradmill.query.query import query, unkept
from gradmill.reports.coverage import Row, totals_of
from gradmill.stages.arrangement import files
from gradmill.stages.arrangement import members as members_of_files
from gradmill.stages.requested import families

Traits = tuple[tuple[str, str], ...]  # each with its label

OPERATOR_TRAITS: Traits = tuple((name, label) for name, label, _ in TRAITS)
FUNCTION_TRAITS: Traits = (
    ("differentiable", "differentiable"),
    ("forward", "forward mode"),
    ("own", "own formulas"),
    ("view", "views"),
    ("inplace", "in-place"),
    ("out", "out variants"),
    ("generated", "generated"),
)
# The name of each trait of a Node, its label, and whether a Node has it.
_OF_NODES: tuple[tuple[str, str, Callable[[ListedNode], object]], ...] = (
    ("forward", "forward mode", lambda node: node.row.forward),
    ("reverse-only", "no forward mode", lambda node: not node.row.forward),
    ("missing", "not implemented", lambda node: node.row.not_implemented),
    ("saves", "saves tensors", lambda node: any(saved.tensor for saved in node.row.saves)),
    ("saves-inputs", "saves inputs", lambda node: any(saved.input for saved in node.row.saves)),
    ("saves-results", "saves results", lambda node: any(not saved.input for saved in node.row.saves)),
    ("saves-nothing", "saves nothing", lambda node: not node.row.saves),
    ("foreach", "foreach", lambda node: node.row.synthesized),
)
NODE_TRAITS: Traits = tuple((name, label) for name, label, _ in _OF_NODES)
HELPER_TRAITS: Traits = (("used", "in formulas"), ("unused", "in no formula"))


class Bar(Struct, frozen=True):
    """A part of a whole, with links to both."""

    label: str
    count: int
    link: str
    whole: int
    whole_link: str


@unkept
def overview(db: Database, layout: str, shards: int) -> bytes:
    """The first page."""
    listed = all_summaries(db, layout, shards)
    totals = totals_of([row for each in listed for row in each.rows if row.node])
    tiles = (
        (len(listed), "operators", "operators.html"),
        (sum(len(each.functions) for each in listed), "functions", "functions.html"),
        (totals.nodes, "Nodes", "nodes.html"),
        (totals.saved_tensors, "saved tensors", "nodes.html#saves"),
        (len(db.names(helpers)), "helpers", "helpers.html"),
        *_change_tile(db),
    )
    nodes = (totals.nodes, "nodes.html")
    bars = (
        Bar("Nodes with a forward derivative", totals.forward, "nodes.html#forward", *nodes),
        Bar("Nodes that save tensors", totals.saving_tensors, "nodes.html#saves", *nodes),
        Bar("Nodes that save nothing", totals.saving_nothing, "nodes.html#saves-nothing", *nodes),
        Bar("Nodes with a gradient that is not implemented", totals.some_not_implemented, "nodes.html#missing", *nodes),
        Bar(
            "Differentiable functions with a forward derivative",
            totals.functions_forward,
            "functions.html#forward",
            totals.functions,
            "functions.html#differentiable",
        ),
    )
    entries = ((source_page(file), file, len(entries_at(db, keys))) for file, keys in source_files(db).items())
    declared = ((page, header, len(header_lines(db, header))) for header, page in headers(db).items())
    sources = [*((*each, "entries") for each in entries), *((*each, "declarations of helpers") for each in declared)]
    return fill(db, "overview", "", tiles=tiles, bars=bars, sources=sources)


def _change_tile(db: Database) -> Iterator[tuple[int, str, str]]:
    compared = report(db)
    if compared is not None:
        yield len(compared.ops), f"changed since {sides(compared)[0]}", "changes.html"


# ---- lists


@query
def operator_rows(db: Database, layout: str, shards: int, group: str) -> str:
    """The rows of a group of operators, as HTML."""
    rows = [
        (
            each,
            sum(bool(row.forward) for row in each.rows),
            dict.fromkeys((saved.name, saved.tensor) for row in each.rows for saved in row.saves),
        )
        for each in summaries(db, layout, shards, group)
    ]
    return fill_part(db, "operator_rows", operators=rows)


@unkept
def operators(db: Database, layout: str, shards: int) -> bytes:
    """The list of all operators."""
    rows = "".join(operator_rows(db, layout, shards, group) for group in db.names(groups))
    return fill(db, "operators", "", rows=rows, count=len(db.names(members)), traits=OPERATOR_TRAITS)


class Functions(Struct, frozen=True, array_like=True):
    """The functions of a group of operators."""

    functions: tuple[tuple[str, Listed, tuple[str, ...]], ...]  # the page, the function, its Nodes
    named: tuple[str, ...]  # functions with a Node, on this page or another one
    forward: tuple[str, ...]  # those of them with a forward formula


@query
def listed_functions(db: Database, layout: str, shards: int, group: str) -> Functions:
    """The functions of a group of operators. What is saved changes nothing here."""
    listed = summaries(db, layout, shards, group)
    rows = [row for each in listed for row in each.rows if row.node]
    nodes = by_key((name, row.node) for row in rows for name in (row.op, *row.serves))
    return Functions(
        tuple((each.page, one, tuple(nodes.get(one.title, ()))) for each in listed for one in each.functions),
        _names_in(rows),
        _names_in([row for row in rows if row.forward]),
    )


@unkept
def functions(db: Database, layout: str, shards: int) -> bytes:
    """The list of all functions, those of an operator next to each other."""
    listed = [listed_functions(db, layout, shards, group) for group in db.names(groups)]
    named = {name for each in listed for name in each.named}
    forward = {name for each in listed for name in each.forward}
    items = [
        (page, each, safe(each.title), nodes, _traits(each, named, forward))
        for group in listed
        for page, each, nodes in group.functions
    ]
    return fill(db, "functions", "", functions=items, traits=FUNCTION_TRAITS)


def _names_in(rows: Sequence[Row]) -> tuple[str, ...]:
    """The functions that rows are about, and those that they serve."""
    return tuple(dict.fromkeys(name for row in rows for name in (row.op, *row.serves)))


def _traits(function: Listed, named: set[str], with_forward: set[str]) -> list[str]:
    has = {
        "differentiable": function.title in named,
        "forward": function.title in with_forward,
        "own": function.status == "by its own formulas",
        "view": function.view,
        "inplace": function.kind == "inplace",
        "out": function.kind == "out",
        "generated": function.generated,
    }
    return [name for name, holds in has.items() if holds]


class Rows(Struct, frozen=True, array_like=True):
    """The rows of a group in a list."""

    count: int
    html: str


@query
def node_rows(db: Database, layout: str, shards: int, group: str) -> Rows:
    """The Nodes of a group of operators, as rows. An edited forward formula fills those of its group again."""
    listed = listed_nodes(db, layout, shards, group)
    items = [(each, [name for name, _, has in _OF_NODES if has(each)]) for each in listed]
    return Rows(len(items), fill_part(db, "node_rows", nodes=items) if items else "")


@unkept
def nodes(db: Database, layout: str, shards: int) -> bytes:
    """The list of all Nodes."""
    rows = [node_rows(db, layout, shards, group) for group in db.names(groups)]
    html, count = "".join(each.html for each in rows), sum(each.count for each in rows)
    return fill(db, "nodes", "", rows=html, count=count, traits=NODE_TRAITS)


@unkept
def helper_list(db: Database) -> bytes:
    """The list of all helpers."""
    rows = []
    for name in db.names(helpers):
        users = callers.item(db, helper_page(name)) or ()
        rows.append((name, helpers.item(db, name), helper_page(name), len(users), "used" if users else "unused"))
    return fill(db, "helpers", "", helpers=rows, traits=HELPER_TRAITS)


@unkept
def added_list(db: Database, layout: str, shards: int, family: str) -> bytes:
    """The list of all functions in the files of an extension."""
    kind = FAMILIES[family]
    listed = added.functions(db, kind.row.source)
    rows = [(ref, added.function_shown(db, layout, shards, kind.row.source, *key)) for key, ref in listed]
    return fill(db, "added_list", "", here=kind.row.source, title=kind.label, kind=kind.unit, functions=rows, traits=())


# ---- lineage


@query
def lineage(db: Database, layout: str, shards: int) -> Lineage:
    """The whole set, from its files to the generated ones."""
    by_family: dict[str, list[tuple[str, tuple[str, ...]]]] = {name: [] for name in families(db)}
    units_in_file = members_of_files(db, layout, shards)
    for file in files(db, layout, shards).values():
        if file.family in by_family:
            by_family[file.family].append((file.name, units_in_file[file.name]))
    sources = tuple(
        (source_page(file), file, len(entries_at(db, keys)), all(role_of(key) == "derivatives" for key in keys))
        for file, keys in source_files(db).items()
    )
    shown = {name: _family(name, members) for name, members in by_family.items()}
    functions = sum(len(members.item(db, page) or ()) for page in db.names(members))
    return Lineage(sources, functions, shown[NODES.name].units if NODES.name in shown else 0, tuple(shown.values()))


def _family(name: str, files: Sequence[tuple[str, tuple[str, ...]]]) -> LineageFamily:
    family = FAMILIES[name]
    return LineageFamily(
        family.label,
        len({unit for _, units in files for unit in units}),
        name == NODES.name,
        family.subject == DERIVATIVES,
        tuple((file, len(set(units))) for file, units in files),
    )


@unkept
def lineage_page(db: Database, layout: str, shards: int) -> bytes:
    """The lineage of the set, and its files."""
    return fill(db, "lineage", "", lineage=lineage(db, layout, shards))
