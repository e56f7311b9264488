"""The rows of a stage as plain data: all, or those with one name. Each row is built when it is requested."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gradmill.doors import loaded
from gradmill.families.bindings import BINDINGS
from gradmill.families.bindings.plan import plan as plan_binding
from gradmill.families.declarations import DECLARATIONS
from gradmill.families.file import File
from gradmill.model.autograd import Info
from gradmill.model.bindings import DeprecatedForm, Overload
from gradmill.model.keys import ENTRY_KEY
from gradmill.model.native import FunctionSummary
from gradmill.model.nodes import FunctionWithInfo, NodeRow
from gradmill.model.units import Unit
from gradmill.problems.problem import Problem, Role, SpecError, nearest, problem_of
from gradmill.query.database import Database
from gradmill.query.memo import digest
from gradmill.reports.declarations import declared
from gradmill.rules.kernels.derivative import differentiability_of
from gradmill.rules.matching.differentiability import differentiable_outputs, dispatch_strategy
from gradmill.specs.entries import Piece
from gradmill.specs.spec_set import ROLES
from gradmill.stages import arrangement, derivatives, foreach, infos, match, python_names, schemas, specs, units
from gradmill.stages.emit import text
from gradmill.stages.kinds.python_names import listed as all_bindings
from gradmill.stages.requested import families
from gradmill.stages.set import release

Row = dict[str, Any]
Layout = tuple[str, int]  # the layout of generated files, and the number of shards
Listed = tuple[set[str], Callable[[], Row]]  # the names of a row, and a function that builds it


class Shown(Struct, frozen=True):
    """How `show` prints a stage: the stage that must have no errors, and the rows."""

    stage: str
    rows: Callable[[Database, Layout], Iterator[Listed]]


def plain(value: object) -> Any:
    """`value` as dicts, lists and scalars: Structs by field name, bytes as hexadecimal."""
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


def rows(db: Database, layout: Layout, stage: str, name: str, refused: list[Problem]) -> Iterator[Row]:
    """The rows of a stage, "" for all. `name` is an operator with or without overload, a schema, an entry, a unit or a
    file, and may contain a `*`. A SpecError if no row matches it. A row of an entry that has none is a problem, which
    `refused` gets."""
    listed = [*stages()[stage].rows(db, layout)]
    known = set().union(*(names for names, _ in listed))
    wanted = name if name in known else operator_name(name, db)
    matched = {*fnmatch.filter(known, name)} if "*" in name else {wanted}
    found = [row for names, row in listed if not name or not matched.isdisjoint(names)]
    for row in found:
        try:
            yield row()
        except SpecError as error:
            if error.role is None:
                raise
            refused.append(problem_of(error, error.role, error.entry, error.op))
    if name and not found:
        raise SpecError(
            f"'{stage}' has no '{name}'", nearest(name.replace("*", ""), known) or f"gradmill show {stage} prints all"
        )


_NAMESPACES = ("torch.ops.aten.", "torch.Tensor.", "torch.", "aten::", "aten.", "at::")
_OF_LIBRARY = re.compile(r"torch\.ops\.(?!aten\.)(\w+)\.(?=\w)")


def operator_name(text: str, db: Database) -> str:
    """The name of an operator as `op_names` has it, from one that PyTorch, its logs or C++ have: `torch.exp`,
    `aten::add.Tensor`, `aten.exp.default`, `torch.ops.mylib.scale.default`; if the set has the operator, also without
    a namespace of its own, `mylib::scale`."""
    name = _OF_LIBRARY.sub(r"\1::", text)
    prefix = next((each for each in _NAMESPACES if name.startswith(each)), "")
    name = name.removeprefix(prefix).removesuffix(".default")
    space, _, own = name.rpartition("::")
    heads = schemas.all_heads(db) if space else []
    return own if any(head.namespace == space and own in op_names(head.schema) for _, head in heads) else name


def op_names(schema: str) -> set[str]:
    """The names of an operator: its schema, its name with overload, its name without."""
    full = schema.partition("(")[0]
    return {schema, full, full.partition(".")[0]}


def _specs(db: Database, layout: Layout) -> Iterator[Listed]:
    for role in ROLES:
        named = specs.files_of(db, role, db.names(specs.entries, role))
        for entry, piece in zip(db.names(specs.entries, role), specs.texts(db, role)):
            value = specs.value(db, role, entry)
            name = value.get(ENTRY_KEY[role]) if isinstance(value, dict) else None
            yield (
                {entry, *(op_names(name) if isinstance(name, str) else ())},
                partial(_entry, db, role, named[entry], entry, piece),
            )


def _entry(db: Database, role: Role, file: str, entry: str, piece: Piece) -> Row:
    raw = specs.raw_value(db, role, entry) or Raw()
    where = {"file": file, "entry": entry, "line": piece.line, "text": piece.text}
    return {**where, "value": plain(raw), "digest": digest(bytes(raw)).hex()}


def _schemas(db: Database, layout: Layout) -> Iterator[Listed]:
    for name, head in schemas.all_heads(db):
        yield {name, *op_names(head.schema)}, partial(_function, db, name, head)


def _function(db: Database, name: str, head: FunctionSummary) -> Row:
    function = schemas.function(db, name)
    assert function is not None
    derived = {"kind": head.kind, "view_kind": head.view_kind, "signature": head.signature}
    return {**plain(function), "func": head.schema, **derived, "schema": plain(function.func)}


def _declarations(db: Database, layout: Layout) -> Iterator[Listed]:
    """What other languages need of each function. This is not a stage: a family computes it."""
    for name, head in schemas.all_heads(db):
        yield {name, *op_names(head.schema)}, partial(_declared, db, name, head.name)


def _declared(db: Database, name: str, op: str) -> Row:
    function = schemas.with_origin(db, name)
    assert function is not None
    try:
        row: Row = msgspec.to_builtins(declared(function, release(db)))
    except SpecError as error:
        error.role, error.entry, error.op = "native", schemas.entry_of(name), op
        raise
    return row


def _derivatives(db: Database, layout: Layout) -> Iterator[Listed]:
    for entry, schema, _ in derivatives.all_titles(db):
        yield {entry, *op_names(schema)}, partial(_definition, db, entry)


def _definition(db: Database, entry: str) -> Row:
    return {"entry": entry, **plain(derivatives.definition(db, entry))}


def _foreach(db: Database, layout: Layout) -> Iterator[Listed]:
    yield from _info_rows(db, foreach.rows(db).values())
    texts = schemas.schema_texts(db)
    for reference in foreach.all_references(db):
        if reference.inplace and foreach.source(db, reference.function) is not None:
            row = {"func": texts[reference.function], "borrows": texts[reference.reference]}
            yield op_names(row["func"]), partial(dict, row)


def _info_rows(db: Database, infos_: Iterable[NodeRow]) -> Iterator[Listed]:
    texts = schemas.schema_texts(db)
    for row in infos_:
        yield {*op_names(texts[row.function]), *([row.node] if row.node else ())}, partial(_info_row, db, row)


def _info_row(db: Database, row: NodeRow) -> Row:
    info = match.info(db, row.function, row.dispatch_key)
    assert info is not None
    return {"dispatch_key": row.dispatch_key, "entry": row.definition, **info_json(info, row.node)}


def info_json(info: Info, node: str | None) -> Row:
    """An info with the field names of torchgen's dataclasses."""
    fields: Row = plain(info)
    fields["op"] = node
    fields["args_with_derivatives"] = [argument.name for argument in info.args_with_derivatives]
    return fields


def _match(db: Database, layout: Layout) -> Iterator[Listed]:
    rows = infos.rows(db) | foreach.rows(db)
    nodes = {(row.function, row.dispatch_key): row.node for row in rows.values()}
    texts = schemas.schema_texts(db)
    for pair in match.all_pairs(db):
        serving = {key: nodes.get((function, key)) for key, function in (pair.source or {}).items()}
        names = {*op_names(texts[pair.function]), *(node for node in serving.values() if node)}
        yield names, partial(_matched, db, pair, serving)


def _matched(db: Database, pair: FunctionWithInfo, nodes: dict[str, str | None]) -> Row:
    if pair.source is None:
        return {"func": schemas.schema_of(db, pair.function), "info": None, "fw_derivatives": None}
    dependent = match.dependent_of(db, pair.function)
    rewritten = dict(match.rewritten(db, pair.function)) if dependent is not None and dependent.inplace else {}
    matches = match.matched(db, pair)
    return {
        "func": schemas.schema_of(db, pair.function),
        "info": {key: info_json(info, nodes[key]) for key, info in matches},
        "fw_derivatives": {key: plain(rewritten.get(key, info.forward_derivatives)) for key, info in matches},
    }


def _differentiability(db: Database, layout: Layout) -> Iterator[Listed]:
    """How autograd treats each function. This is not a stage: the families that depend on `match` compute it."""
    texts = schemas.schema_texts(db)
    for pair in match.all_pairs(db):
        yield op_names(texts[pair.function]), partial(_differentiated, db, pair)


def _differentiated(db: Database, pair: FunctionWithInfo) -> Row:
    function, facts = schemas.function(db, pair.function), release(db)
    assert function is not None
    by_key = dict(match.matched(db, pair))
    outputs = {key: differentiable_outputs(function, differentiability_of(info), facts) for key, info in by_key.items()}
    return {
        "func": schemas.schema_of(db, pair.function),
        "dispatch_strategy": dispatch_strategy(function, by_key.values()),
        "differentiable_outputs": plain(outputs or {"": differentiable_outputs(function, None, facts)}),
    }


def _bindings(db: Database, layout: Layout) -> Iterator[Listed]:
    """What Python parses and calls for each name. This is not a stage: the family of bindings computes it."""
    texts = schemas.schema_texts(db)
    for unit in all_bindings(db, BINDINGS):
        called = (name for function in unit.functions for name in op_names(texts[function]))
        yield {unit.name, unit.overload, *called}, partial(_binding, db, unit.name)


def _binding(db: Database, name: str) -> Row:
    binding = python_names.binding(db, name)
    assert binding is not None
    functions = [str(each.function.func) for each in binding.overloads if each.form is None]
    deprecated = [_deprecated(each, each.form) for each in binding.overloads if each.form is not None]
    planned = plain(plan_binding(binding, release(db)))
    return {"binding": name, "functions": functions, "deprecated": deprecated, **planned}


def _deprecated(overload: Overload, form: DeprecatedForm) -> Row:
    called = {"calls": str(overload.function.func), "arguments": plain(form.call)}
    return {"entry": overload.form_entry, "schema": str(form.schema), **called}


def _emit(db: Database, layout: Layout) -> Iterator[Listed]:
    for family in families(db):
        listed = units.units(db, family)
        for unit, schema in zip(listed, units.schemas_of(db, ((family, each) for each in listed))):
            yield {unit.name, unit.title, *op_names(schema)}, partial(_text, db, family, unit)


def _text(db: Database, family: str, unit: Unit) -> Row:
    named = {
        "unit": unit.title,
        "family": family,
        "func": units.schema_of(db, family, unit),
        "dispatch_key": unit.dispatch_key,
    }
    return {**named, "entry": unit.entry, "pieces": text(db, family, unit.name)}


def _shard(db: Database, layout: Layout) -> Iterator[Listed]:
    for name, file in arrangement.files(db, *layout).items():
        yield {name}, partial(_file, file)


def _file(file: File) -> Row:
    return {**plain(file), "holes": msgspec.to_builtins(file.holes)}  # with the kind of each content


_OWN = {
    "specs": Shown("specs", _specs),
    "schemas": Shown("schemas", _schemas),
    "derivatives": Shown("derivatives", _derivatives),
    "infos": Shown("infos", lambda db, layout: _info_rows(db, infos.rows(db).values())),
    "foreach": Shown("foreach", _foreach),
    "match": Shown("match", _match),
    "differentiability": Shown("match", _differentiability),
    DECLARATIONS.name: Shown("schemas", _declarations),
    BINDINGS.name: Shown("python_names", _bindings),
    "emit": Shown("match", _emit),
    "shard": Shown("match", _shard),
}


@cache
def stages() -> dict[str, Shown]:
    """What `show` prints, by the name of the stage."""
    return _OWN | {name: shown for more in loaded("shown") for name, shown in more.items()}
