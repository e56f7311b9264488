"""The rows of a stage as plain data: all of them, or those of one name. A row is made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from pipeline.model.autograd import Info
from pipeline.model.nodes import NodeRow
from pipeline.problems.problem import Role, SpecError, nearest
from pipeline.query.database import Database
from pipeline.query.digest import digest
from pipeline.rules.derivatives.differentiability import differentiable_outputs, dispatch_strategy
from pipeline.specs.spec_set import ROLES
from pipeline.stages import derivatives, foreach, infos, match, schemas, shard, specs, units
from pipeline.stages.emit import text
from pipeline.stages.set import release, spec_set

Row = dict[str, Any]
Listed = tuple[set[str], Callable[[], Row]]  # what a row may be asked by, and the row


class Shown(Struct, frozen=True):
    """What `show` prints for a stage: the stage that must be free of mistakes, and its rows."""

    stage: str
    rows: Callable[[Database, tuple[str, int]], Iterator[Listed]]  # from the layout of the files


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


def rows(db: Database, layout: tuple[str, int], stage: str, name: str = "") -> Iterator[Row]:
    """The rows of a stage. `name` is an operator, with or without overload, a schema, an entry, a unit or a file."""
    found = STAGES[stage].rows(db, layout)
    if not name:
        for _, row in found:
            yield row()
        return
    known: set[str] = set()
    empty = True
    for names, row in found:
        known |= names
        if name in names:
            empty = False
            yield row()
    if empty:
        raise SpecError(f"'{stage}' has no '{name}'", nearest(name, known) or f"doit show {stage} prints all")


def op_names(schema: str) -> set[str]:
    """What an operator may be asked by: its schema, its name with overload, its name."""
    full = schema.partition("(")[0]
    return {schema, full, full.partition(".")[0]}


def _specs(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    for role in ROLES:
        file = spec_set(db).files[role]
        for entry, piece in zip(db.names(specs.entries, role), specs.texts(db, role)):
            names = {entry} | op_names(_named(specs.value(db, role, entry), role))
            yield (
                names,
                lambda role=role, entry=entry, piece=piece, file=file: {  # type: ignore[misc]
                    "file": file,
                    "entry": entry,
                    "line": piece.line,
                    "text": piece.text,
                    "value": specs.value(db, role, entry),
                    "digest": digest(bytes(specs.entries.item(db, role, entry) or b"")).hex(),
                },
            )


def _named(value: object, role: Role) -> str:
    name = value.get(specs.KEYS[role]) if isinstance(value, dict) else None
    return name if isinstance(name, str) else ""


def _schemas(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    for name, head in schemas.all_heads(db):
        yield (
            op_names(head.schema) | {name},
            lambda name=name, head=head: {  # type: ignore[misc]
                **plain(schemas.function(db, name)),
                "func": head.schema,
                "kind": head.kind,
                "view_kind": head.view_kind,
                "signature": head.signature,
                "schema": plain(getattr(schemas.function(db, name), "func", None)),
            },
        )


def _derivatives(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    for entry, schema, _ in derivatives.all_titles(db):
        definition = lambda entry=entry: {"entry": entry, **plain(derivatives.definition(db, entry))}  # noqa: E731
        yield op_names(schema) | {entry}, definition


def _infos(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    return _info_rows(db, infos.rows(db))


def _foreach(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    yield from _info_rows(db, foreach.rows(db))
    heads = dict(schemas.all_heads(db))
    for function, reference in foreach.borrowed(db):
        pair = {"func": heads[function].schema, "borrows": heads[reference].schema}
        yield op_names(heads[function].schema), lambda pair=pair: pair  # type: ignore[misc]


def _info_rows(db: Database, found: Iterable[NodeRow]) -> Iterator[Listed]:
    for row in found:
        names = op_names(row.schema) | ({row.node} if row.node else set())
        yield (
            names,
            lambda row=row: {  # type: ignore[misc]
                "dispatch_key": row.dispatch_key,
                "entry": row.definition,
                **info_json(_info(db, row.function, row.dispatch_key), row.node),
            },
        )


def info_json(info: Info, node: str | None) -> Row:
    """An info in the words of torchgen's dataclasses."""
    found: Row = plain(info)
    found["op"] = node
    found["args_with_derivatives"] = [given.name for given in info.args_with_derivatives]
    return found


def _info(db: Database, function: str, key: str) -> Info:
    found = match.info(db, function, key)
    assert found is not None
    return found


def _match(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    nodes = {(row.function, row.dispatch_key): row.node for row in (*infos.rows(db), *foreach.rows(db))}
    for pair in match.pairs(db):
        served = (nodes.get((function, key)) for key, function in (pair.source or {}).items())
        names = op_names(pair.schema) | {node for node in served if node}
        yield names, lambda pair=pair: _matched(db, pair, nodes)  # type: ignore[misc]


def _matched(db: Database, pair: match.Pair, nodes: dict[tuple[str, str], str | None]) -> Row:
    if pair.source is None:
        return {"func": pair.schema, "info": None, "fw_derivatives": None}
    dependent = match.dependents.item(db, pair.function)
    rewritten = dict(match.rewritten(db, pair.function)) if dependent is not None and dependent.inplace else {}
    info, forward = {}, {}
    for key, found in match.matched(db, pair):
        info[key] = info_json(found, nodes[pair.source[key], key])
        forward[key] = plain(rewritten.get(key, found.forward_derivatives))
    return {"func": pair.schema, "info": info, "fw_derivatives": forward}


def _differentiability(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    """What autograd makes of every function: not a stage, but what families that hang off `match` ask of it."""
    for pair in match.pairs(db):
        yield op_names(pair.schema), lambda pair=pair: _differentiated(db, pair)  # type: ignore[misc]


def _differentiated(db: Database, pair: match.Pair) -> Row:
    function, facts = schemas.function(db, pair.function), release(db)
    assert function is not None
    found = dict(match.matched(db, pair))
    outputs = {key: differentiable_outputs(function, info, facts) for key, info in found.items()}
    return {
        "func": pair.schema,
        "dispatch_strategy": dispatch_strategy(function, found.values()),
        "differentiable_outputs": plain(outputs or {"": differentiable_outputs(function, None, facts)}),
    }


def _emit(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    for family in units.families(db):
        for unit in units.units(db, family):
            yield (
                {unit.name, unit.title, *op_names(unit.schema)},
                lambda family=family, unit=unit: {  # type: ignore[misc]
                    "unit": unit.name,
                    "family": family,
                    "func": unit.schema,
                    "dispatch_key": unit.dispatch_key,
                    "entry": unit.entry,
                    "pieces": text(db, family, unit.name),
                },
            )


def _shard(db: Database, layout: tuple[str, int]) -> Iterator[Listed]:
    for name, file in shard.files(db, *layout).items():
        yield {name}, lambda file=file: plain(file)  # type: ignore[misc]


STAGES = {
    "specs": Shown("specs", _specs),
    "schemas": Shown("schemas", _schemas),
    "derivatives": Shown("derivatives", _derivatives),
    "infos": Shown("infos", _infos),
    "foreach": Shown("foreach", _foreach),
    "match": Shown("match", _match),
    "differentiability": Shown("match", _differentiability),
    "emit": Shown("match", _emit),
    "shard": Shown("match", _shard),
}
