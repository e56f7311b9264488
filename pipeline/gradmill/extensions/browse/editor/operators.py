"""Facts about an operator for hover, lenses and graphs: its function, its Nodes, what they save, their C++."""

from __future__ import annotations

from msgspec import Struct

from gradmill.families.nodes import NODES
from gradmill.model.native import FunctionSummary
from gradmill.model.nodes import FunctionWithInfo, NodeRow
from gradmill.query.database import Database
from gradmill.stages import infos, schemas
from gradmill.stages.emit import text
from gradmill.stages.match import all_pairs, info, node
from gradmill.stages.requested import families


class NodeFacts(Struct, frozen=True):
    """A Node: its schema, inputs, saved attributes and C++."""

    node: str
    dispatch_key: str
    schema: str
    synthesized: bool
    inputs: tuple[str, ...]  # those with gradients
    saved: tuple[tuple[str, str], ...]  # names and C++ types
    tangents: tuple[str, ...]  # outputs with a forward formula
    function: str  # the C++ of the gradient function; "" if no Nodes are generated


class OperatorFacts(Struct, frozen=True):
    """A function, and the Nodes that serve it."""

    schema: str
    namespace: str
    kind: str  # functional, inplace, out, …
    generated_from: str
    dispatch: tuple[tuple[str, str], ...]  # dispatch keys and kernels
    tags: tuple[str, ...]
    served_by: str  # the operator that has the formulas, if it is another one
    nodes: tuple[NodeFacts, ...]


def name_of(schema: str) -> str:
    """The operator that a schema or a name in YAML is about: with overload, without namespace."""
    return schema.partition("(")[0].strip().rpartition("::")[2]


def functions_named(db: Database, name: str) -> list[tuple[str, FunctionSummary]]:
    """The functions with this name: with exactly its overload, or else with any."""
    matches = [(key, head) for key, head in schemas.all_heads(db) if name in (head.name, head.unqualified)]
    return [each for each in matches if each[1].name == name] or matches


def facts_of(db: Database, name: str) -> OperatorFacts | None:
    """The facts about the first function with this name; None if there is none."""
    named = functions_named(db, name_of(name))
    native = schemas.function(db, named[0][0]) if named else None
    if native is None:
        return None
    function, head = named[0]
    pair = next((pair for pair in all_pairs(db) if pair.function == function), None)
    rows = _rows(db, pair) if pair is not None else []
    other = next((row.op for row in rows if row.function != function), "")
    return OperatorFacts(
        schema=head.schema,
        namespace=head.namespace,
        kind=head.kind,
        generated_from=native.generated_from or "",
        dispatch=tuple((key, kernel.name) for key, kernel in native.dispatch.items()),
        tags=native.tags,
        served_by=name_of(other),
        nodes=tuple(_node(db, row) for row in rows if row.node),
    )


def _rows(db: Database, pair: FunctionWithInfo) -> list[NodeRow]:
    rows = (node(db, infos.keyed(function, key)) for key, function in (pair.source or {}).items())
    return [row for row in rows if row is not None]


def _node(db: Database, row: NodeRow) -> NodeFacts:
    own = info(db, row.function, row.dispatch_key)
    assert own is not None
    saved = (*own.all_saved_inputs, *own.all_saved_outputs)
    return NodeFacts(
        node=row.node or "",
        dispatch_key=row.dispatch_key,
        schema=schemas.schema_of(db, row.function),
        synthesized=row.synthesized,
        inputs=tuple(argument.name for argument in own.args_with_derivatives),
        saved=tuple(sorted((attribute.name, attribute.type) for attribute in saved)),
        tangents=tuple(name for derivative in own.forward_derivatives for name in derivative.var_names),
        function=_function(db, infos.keyed(row.function, row.dispatch_key)),
    )


def _function(db: Database, unit: str) -> str:
    """The C++ of a Node's gradient function; "" if no Nodes are generated."""
    if NODES.name not in families(db):
        return ""
    function, brace, _ = text(db, NODES.name, unit).get("definition", "").partition("\n}\n")
    return function + brace.rstrip("\n")
