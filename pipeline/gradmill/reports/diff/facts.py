"""The derivatives of every operator of one spec set, as texts for comparison.

Reads infos, functions and the variants they serve, and returns an `Autograd`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from gradmill.model.autograd import Info
from gradmill.model.native import FunctionSummary
from gradmill.model.nodes import NodeRow
from gradmill.model.schema import SchemaKind
from gradmill.query.database import Database
from gradmill.reports.diff.entries import COMPARED, Entries
from gradmill.reports.diff.model import Part, Seen, Side
from gradmill.reports.served import served
from gradmill.stages import foreach, infos
from gradmill.stages.match import all_pairs, info
from gradmill.stages.schemas import all_heads, function
from gradmill.stages.set import RELEASE, spec_set
from gradmill.stages.specs import lines

Key = tuple[str, str]  # schema of the function, dispatch key
# One or several wordings of one fact, the most readable first. Facts are equal if all wordings are.
Wordings = tuple[str, ...]


class Facts(Struct, frozen=True):
    """The facts of one operator under one dispatch key: for each part, wordings by name."""

    op: str
    dispatch_key: str
    seen: Seen
    follows: str
    arguments: tuple[tuple[str, str], ...]  # name and type
    parts: dict[Part, dict[str, Wordings]]


class Autograd(Struct, frozen=True):
    """The facts of one side of a comparison."""

    side: Side
    facts: dict[Key, Facts]
    status: dict[str, str]  # operator -> how autograd differentiates it, as text
    entries: dict[str, Entries] = {}  # by family, of those in COMPARED that are requested


def read_autograd(db: Database, version: str, families: Collection[str] = ()) -> Autograd:
    """The facts of a spec set without errors. `version` is the version that the set declares, "" if it has none.
    `families` are those with entries to compare."""
    rows = [*infos.rows(db).values(), *foreach.rows(db).values()]
    written = {row.definition: row.op for row in rows if not row.synthesized}
    variants, heads = served(db), dict(all_heads(db))
    at = lines(db, "derivatives")
    facts = {}
    for row in rows:
        own_info, native = info(db, row.function, row.dispatch_key), function(db, row.function)
        if own_info is None or native is None:
            continue
        schema = str(native.func)
        serves = (heads[each] for each in variants.get((row.function, row.dispatch_key), ()))
        facts[schema, row.dispatch_key] = Facts(
            row.op,
            row.dispatch_key,
            Seen(schema, row.node, at.get(row.definition, 0)),
            written[row.definition] if row.synthesized else "",
            tuple((a.name, a.type) for a in native.func.arguments),
            _parts(row, schema, own_info, {head.name: head.kind for head in serves}),
        )
    nodes = sum(f.seen.node is not None for f in facts.values())
    release = (db.input(RELEASE) or b"").decode()
    side = Side(spec_set(db).name, version, release, len({*written.values()}), nodes)
    entries = {each.family: each.read(db) for each in COMPARED if each.family in families}
    status = {heads[pair.function].name: _differentiated(pair.function, heads, pair.source) for pair in all_pairs(db)}
    return Autograd(side, facts, status, entries)


def _parts(row: NodeRow, schema: str, info: Info, variants: dict[str, SchemaKind]) -> dict[Part, dict[str, Wordings]]:
    # A synthesized operator has no formula: `original_formula` is its reference's.
    gradients = {
        name: tuple(map(_one_line, (d.formula,) if row.synthesized else (d.original_formula, d.formula)))
        for d in info.derivatives
        for name in d.var_names
    }
    tangents: dict[str, Wordings] = {
        name: (_one_line(d.formula),) for d in info.forward_derivatives for name in d.var_names
    }
    # The attribute's name identifies the saved expression.
    saved: dict[str, Wordings] = {a.name: (a.type,) for a in (*info.all_saved_inputs, *info.all_saved_outputs)}
    outputs = outputs_of(info)
    return {
        Part.SCHEMA: {"": (schema,)},
        Part.NODE: {"": (row.node,)} if row.node is not None else {},
        Part.GRADIENT: gradients,
        Part.TANGENT: tangents,
        Part.SAVED: saved,
        Part.OUTPUTS: {"": (f"[{outputs}]",)} if outputs else {},
        Part.VARIANTS: {name: (kind,) for name, kind in variants.items()},
    }


def _one_line(formula: str) -> str:
    return " ".join(formula.split())


def outputs_of(info: Info) -> str:
    """Which outputs are differentiable, as text; "" if the definition does not say so."""
    return ", ".join(info.output_differentiability_conditions or map(str, info.output_differentiability or ()))


def _differentiated(name: str, heads: Mapping[str, FunctionSummary], source: dict[str, str] | None) -> str:
    if source:
        serving = next(iter(source.values()))
        return f"differentiated as {heads[serving].name}" if serving != name else "differentiated under other keys"
    return "composite: differentiated through what it calls" if heads[name].implicit else "without derivative"
