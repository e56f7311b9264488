"""The contents of the pages of whole graphs: the operators that a graph calls, the Nodes of its backward, its C++."""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.extensions.browse.page.model import Ref, Unit
from gradmill.extensions.browse.page.names import node_anchor, safe
from gradmill.extensions.browse.page.relations import refs
from gradmill.extensions.graphs.planner import operators_of
from gradmill.families.graphs.files import GRAPHS
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages import graphs
from gradmill.stages.arrangement import files
from gradmill.stages.graph_operators import sources
from gradmill.stages.graph_text import plan
from gradmill.stages.infos import keyed
from gradmill.stages.match import node
from gradmill.stages.schemas import bucket_of_function


class Graph(Struct, frozen=True, array_like=True):
    """A whole graph: a function of a file that `graphs=` names."""

    name: str
    file: str
    schema: str
    text: str  # the Python that it is read from, "" for an exported model
    operators: tuple[Ref, ...]
    nodes: tuple[Ref, ...]  # whose formulas its backward uses
    unit: Unit


@query
def graph_refs(db: Database) -> list[tuple[tuple[str, str], Ref]]:
    """All graphs, whose names are unique, each with the link to it."""
    return [((file, name), Ref(safe(name), "", name)) for file, name in graphs.all_names(db)]


@query
def operators_called(db: Database, file: str, name: str) -> list[str]:
    """The identities of the operators that a graph calls."""
    function = graphs.lean(db, file, name)
    return [] if function is None else operators_of(function)


@query
def nodes_used(db: Database, file: str, name: str) -> list[Ref]:
    """The Nodes whose formulas a graph's backward uses."""
    planned = plan(db, file, name)
    used = [identity for each in planned.functions for identity in each.nodes] if planned is not None else []
    found: dict[Ref, None] = {}
    for identity in used:
        source = sources.item(db, bucket_of_function(identity), identity)
        row = node(db, keyed(source, DEFAULT_KEY)) if source is not None else None
        link = refs.item(db, source) if source is not None else None
        if row is not None and row.node and link is not None:
            found[Ref(link.page, node_anchor(row.node, link.title, DEFAULT_KEY), row.node)] = None
    return list(found)


@query
def graph_shown(db: Database, layout: str, shards: int, file: str, name: str) -> Graph:
    """The contents of a graph's page."""
    unit = f"{file}:{name}"
    own = (each.name for each in files(db, layout, shards).values() if unit in each.units)
    links = (refs.item(db, each) for each in operators_called(db, file, name))
    return Graph(
        name,
        file,
        graphs.signature(db, file, name),
        "" if graphs.is_exported(file) else graphs.texts.item(db, file, name) or "",
        tuple(dict.fromkeys(link for link in links if link is not None)),
        tuple(nodes_used(db, file, name)),
        Unit(GRAPHS.name, unit, name, tuple(own)),
    )
