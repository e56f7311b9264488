"""What one spec set says of every operator's derivatives, as texts that can be compared.

Reads the artifacts of a build whose `match` is up to date; gives `Autograd`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pipeline.build.engine import Build
from pipeline.graph import functions_of
from pipeline.matched import Matched, all_matched
from pipeline.model.autograd import Info
from pipeline.model.functions import FunctionTable
from pipeline.model.infos import Foreach, InfoRow, Infos
from pipeline.model.native import FunctionHead
from pipeline.model.schema import SchemaKind
from pipeline.model.specs import SpecFile
from pipeline.reports.diff.model import Part, Seen, Side
from pipeline.reports.served import served

Key = tuple[str, str]  # schema of the function, dispatch key
# One thing in one or several wordings: the one that reads best first. All must be equal for the thing to be equal.
Wordings = tuple[str, ...]


class Facts(Struct, frozen=True):
    """One operator under one dispatch key: for each part, wordings by name."""

    op: str
    dispatch_key: str
    seen: Seen
    follows: str
    arguments: tuple[tuple[str, str], ...]  # name and type
    parts: dict[Part, dict[str, Wordings]]


class Autograd(Struct, frozen=True):
    """One side of a comparison."""

    side: Side
    facts: dict[Key, Facts]
    status: dict[str, str]  # operator -> how it is differentiated, in words


def read_autograd(build: Build) -> Autograd:
    """The facts of a build whose analysis is up to date."""
    functions = functions_of(build)
    infos = build.load(build.outcome("infos").artifacts["infos"], Infos)
    foreach = build.load(build.outcome("foreach").artifacts["foreach"], Foreach).infos
    matched = list(all_matched(build))
    entries = build.load(build.outcome("specs").artifacts["derivatives"], SpecFile).entries
    written = {row.entry: _op(row.schema) for row in infos.rows}
    variants = served(functions, matched)
    facts = {}
    for table, synthesized in ((infos, False), (foreach, True)):
        for row in table.rows:
            key = (row.schema, row.dispatch_key)
            parts = _parts(row, table.info(row), variants.get(key, {}), synthesized)
            function = functions.function(functions.by_schema[row.schema])
            facts[key] = Facts(
                _op(row.schema),
                row.dispatch_key,
                Seen(row.schema, row.node, entries[row.entry].line),
                written[row.entry] if synthesized else "",
                tuple((a.name, a.type) for a in function.func.arguments),
                parts,
            )
    nodes = sum(f.seen.node is not None for f in facts.values())
    config = build.config
    side = Side(config.specs.name, config.specs.version, config.release, len({*written.values()}), nodes)
    return Autograd(side, facts, _status(functions, matched))


def _op(schema: str) -> str:
    return schema.partition("(")[0]


def _parts(
    row: InfoRow, info: Info, variants: dict[str, SchemaKind], synthesized: bool
) -> dict[Part, dict[str, Wordings]]:
    # The formula as written is the reference's where it was synthesized.
    gradients = {
        name: tuple(map(_one_line, (d.formula,) if synthesized else (d.original_formula, d.formula)))
        for d in info.derivatives
        for name in d.var_names
    }
    tangents: dict[str, Wordings] = {
        name: (_one_line(d.formula),) for d in info.forward_derivatives for name in d.var_names
    }
    # The name of an attribute says which expression it saves.
    saved: dict[str, Wordings] = {a.name: (a.type,) for a in (*info.all_saved_inputs, *info.all_saved_outputs)}
    outputs = _outputs(info)
    return {
        Part.SCHEMA: {"": (row.schema,)},
        Part.NODE: {"": (row.node,)} if row.node is not None else {},
        Part.GRADIENT: gradients,
        Part.TANGENT: tangents,
        Part.SAVED: saved,
        Part.OUTPUTS: {"": (outputs,)} if outputs else {},
        Part.VARIANTS: {name: (kind,) for name, kind in variants.items()},
    }


def _one_line(formula: str) -> str:
    return " ".join(formula.split())


def _outputs(info: Info) -> str:
    if info.output_differentiability_conditions:
        return f"[{', '.join(info.output_differentiability_conditions)}]"
    return f"[{', '.join(map(str, info.output_differentiability))}]" if info.output_differentiability else ""


def _status(functions: FunctionTable, matched: Iterable[Matched]) -> dict[str, str]:
    sources = {each.func: each.source for each in matched}
    return {head.name: _differentiated(head, sources[head.schema]) for head in functions.heads}


def _differentiated(head: FunctionHead, source: dict[str, str] | None) -> str:
    if source:
        schema = next(iter(source.values()))
        return f"differentiated as {_op(schema)}" if schema != head.schema else "differentiated under other keys"
    return "composite: differentiated through what it calls" if head.implicit else "without derivative"
