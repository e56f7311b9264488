"""Artifacts as JSON: one object a line, the rows of one stage, all of them or those of one name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from pipeline.build.engine import Build
from pipeline.graph import functions_of
from pipeline.graph_output import emit_steps, shard_steps
from pipeline.matched import all_matched
from pipeline.model.autograd import Info
from pipeline.model.infos import Definitions, Foreach, InfoRow, Infos
from pipeline.model.node_text import NodeText
from pipeline.model.specs import SpecFile
from pipeline.problems.problem import SpecError, nearest
from pipeline.rules.derivatives.differentiability import differentiable_outputs, dispatch_strategy
from pipeline.specs.spec_set import ROLES

Row = dict[str, Any]

STAGES = ("specs", "schemas", "derivatives", "infos", "foreach", "match", "differentiability", "emit", "shard")


def plain(value: object) -> Any:
    """`value` as dicts, lists and scalars: Structs by field name, digests as hexadecimal."""
    if isinstance(value, Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Raw):
        return plain(msgspec.msgpack.decode(value))
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value


def rows(build: Build, stage: str, name: str = "") -> Iterator[Row]:
    """The rows of a stage. `name` is an operator, with or without overload, a schema, a Node or a file."""
    found = _all_rows(build, stage)
    if not name:
        for _, row in found:
            yield row
        return
    known: set[str] = set()
    empty = True
    for names, row in found:
        known |= names
        if name in names:
            empty = False
            yield row
    if empty:
        raise SpecError(f"'{stage}' has no '{name}'", nearest(name, known) or f"doit show {stage} prints all")


def _all_rows(build: Build, stage: str) -> Iterator[tuple[set[str], Row]]:
    """Every row, and the names it may be asked by."""
    makers = {
        "specs": _specs,
        "schemas": _schemas,
        "derivatives": _derivatives,
        "infos": _infos,
        "foreach": _foreach,
        "match": _match,
        "differentiability": _differentiability,
        "emit": _emit,
        "shard": _shard,
    }
    return makers[stage](build)


def op_names(schema: str) -> set[str]:
    """What an operator may be asked by: its schema, its name with overload, its name."""
    full = schema.partition("(")[0]
    return {schema, full, full.partition(".")[0]}


def _specs(build: Build) -> Iterator[tuple[set[str], Row]]:
    for role in ROLES:
        file = build.load(build.outcome("specs").artifacts[role], SpecFile)
        for entry in file.entries:
            value = entry.decode()
            names = [value.get(key) for key in ("func", "name", "tag")] if isinstance(value, dict) else []
            known = set().union(*(op_names(n) for n in names if isinstance(n, str)))
            yield known, {"file": file.name, **plain(entry)}


def _schemas(build: Build) -> Iterator[tuple[set[str], Row]]:
    functions = functions_of(build)
    for i, head in enumerate(functions.heads):
        function = plain(functions.function(i))
        function["func"] = head.schema
        extra = {"kind": head.kind, "view_kind": head.view_kind, "signature": head.signature}
        yield op_names(head.schema), {**function, **extra, "schema": plain(functions.function(i).func)}


def _derivatives(build: Build) -> Iterator[tuple[set[str], Row]]:
    for row in build.load(build.outcome("derivatives").artifacts["definitions"], Definitions).rows:
        yield op_names(row.schema), {"entry": row.entry, **plain(row.definition)}


def _infos(build: Build) -> Iterator[tuple[set[str], Row]]:
    yield from _info_rows(build.load(build.outcome("infos").artifacts["infos"], Infos))


def _foreach(build: Build) -> Iterator[tuple[set[str], Row]]:
    foreach = build.load(build.outcome("foreach").artifacts["foreach"], Foreach)
    yield from _info_rows(foreach.infos)
    for function, reference in foreach.borrowed.items():
        yield op_names(function), {"func": function, "borrows": reference}


def _info_rows(infos: Infos) -> Iterator[tuple[set[str], Row]]:
    for row in infos.rows:
        names = op_names(row.schema) | ({row.node} if row.node else set())
        yield names, {"dispatch_key": row.dispatch_key, "entry": row.entry, **info_json(infos.info(row), row)}


def _match(build: Build) -> Iterator[tuple[set[str], Row]]:
    infos = build.load(build.outcome("infos").artifacts["infos"], Infos)
    foreach = build.load(build.outcome("foreach").artifacts["foreach"], Foreach).infos
    for matched in all_matched(build):
        names = op_names(matched.func)
        if matched.source is None:
            yield names, {"func": matched.func, "info": None, "fw_derivatives": None}
            continue
        info = {}
        forward = {}
        for key, schema in matched.source.items():
            table = foreach if schema in foreach.by_schema else infos
            row = table.by_schema[schema][key]
            names |= {row.node} if row.node else set()
            found = table.info(row)
            info[key] = info_json(found, row)
            derivatives = found.forward_derivatives if matched.rewritten is None else matched.rewritten[key]
            forward[key] = [plain(d) for d in derivatives]
        yield names, {"func": matched.func, "info": info, "fw_derivatives": forward}


def _differentiability(build: Build) -> Iterator[tuple[set[str], Row]]:
    """What autograd makes of every function: not a stage, but what families that hang off `match` ask of it."""
    functions = functions_of(build)
    infos = build.load(build.outcome("infos").artifacts["infos"], Infos)
    foreach = build.load(build.outcome("foreach").artifacts["foreach"], Foreach).infos
    for matched in all_matched(build):
        function = functions.function(functions.by_schema[matched.func])
        found: dict[str, Info] = {}
        for key, schema in (matched.source or {}).items():
            table = foreach if schema in foreach.by_schema else infos
            found[key] = table.info(table.by_schema[schema][key])
        outputs = {key: differentiable_outputs(function, info, build.release) for key, info in found.items()}
        row = {
            "func": matched.func,
            "dispatch_strategy": dispatch_strategy(function, found.values()),
            "differentiable_outputs": plain(outputs or {"": differentiable_outputs(function, None, build.release)}),
        }
        yield op_names(matched.func), row


def info_json(info: Info, row: InfoRow) -> Row:
    """An info in the words of torchgen's dataclasses."""
    found: Row = plain(info)
    found["op"] = row.node
    found["args_with_derivatives"] = [given.name for given in info.args_with_derivatives]
    return found


def _emit(build: Build) -> Iterator[tuple[set[str], Row]]:
    from pipeline.build.ensure import ensure

    for step in emit_steps(build):
        text = build.load(ensure(build, step).artifacts["text"], NodeText)
        row = {"node": text.node, "func": step.row.schema, "dispatch_key": step.row.dispatch_key, "pieces": text.pieces}
        yield {step.row.node, *op_names(step.row.schema)}, row


def _shard(build: Build) -> Iterator[tuple[set[str], Row]]:
    for step in shard_steps(build):
        yield {step.file.name}, {"path": step.path(build), **plain(step.file)}
