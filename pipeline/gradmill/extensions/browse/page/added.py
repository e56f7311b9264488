"""The pages of functions in files that extensions read: the operators that a function calls, the Nodes of its backward,
its C++."""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.doors import load, readers
from gradmill.extensions.browse.page.model import Ref, Unit
from gradmill.extensions.browse.page.names import node_anchor, safe
from gradmill.extensions.browse.page.relations import refs
from gradmill.families.family import Family
from gradmill.families.table import FAMILIES
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages import added
from gradmill.stages.arrangement import files
from gradmill.stages.infos import keyed
from gradmill.stages.match import node


class Function(Struct, frozen=True, array_like=True):
    """A function of a file that an extension reads."""

    kind: str  # of its unit: `graph`
    name: str
    file: str
    schema: str
    text: str  # that it is read from, "" for a file without text
    operators: tuple[Ref, ...]
    nodes: tuple[Ref, ...]  # whose formulas its backward uses
    unit: Unit


def families(db: Database) -> list[Family]:
    """The families of the extensions that have files."""
    return [family for family in FAMILIES.values() if family.row.source and added.added(db, family.row.source)]


@query
def functions(db: Database, extension: str) -> list[tuple[tuple[str, str], Ref]]:
    """The functions of an extension's files, whose names are unique, each with the link to it."""
    reads, kind = readers()[extension], FAMILIES[extension].unit
    return [((file, name), Ref(f"{kind}/{safe(name)}", "", name)) for file, name in load(reads.module).all_names(db)]


@query
def nodes_used(db: Database, extension: str, file: str, name: str) -> list[Ref]:
    """The Nodes whose formulas a function's backward uses."""
    found: dict[Ref, None] = {}
    for function in load(readers()[extension].uses).formulas_used(db, file, name):
        row, link = node(db, keyed(function, DEFAULT_KEY)), refs.item(db, function)
        if row is not None and row.node and link is not None:
            found[Ref(link.page, node_anchor(row.node, link.title, DEFAULT_KEY), row.node)] = None
    return list(found)


@query
def operators_called(db: Database, extension: str, file: str, name: str) -> list[Ref]:
    """The operators that a function calls, without those that have no page."""
    called = load(readers()[extension].uses).operators_called(db, file, name)
    return list(dict.fromkeys(link for each in called if (link := refs.item(db, each)) is not None))


@query
def function_shown(db: Database, layout: str, shards: int, extension: str, file: str, name: str) -> Function:
    """The contents of a function's page."""
    family, unit = FAMILIES[extension], f"{file}:{name}"
    own = (each.name for each in files(db, layout, shards).values() if unit in each.units)
    return Function(
        kind=family.unit,
        name=name,
        file=file,
        schema=added.signature(db, added.added_label(extension, file), name),
        text=load(readers()[extension].module).text_of(db, file, name),
        operators=tuple(operators_called(db, extension, file, name)),
        nodes=tuple(nodes_used(db, extension, file, name)),
        unit=Unit(family.name, unit, name, tuple(own)),
    )
