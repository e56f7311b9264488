"""Stage `infos`: definitions and schemas to differentiability infos, and the names of the Nodes.

Reads `Definitions` and all functions; writes `Targets`, which function each definition is for, and `Infos`. Targets
are looked up again when a definition comes, goes or names something else, or a function changed. An info is made
again when its definition, or the function it is for, changed; naming is done anew each time, since a new entry may
move the numbers of later ones.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Raw

from pipeline.model.artifact import digest_of, encode
from pipeline.model.autograd import Info
from pipeline.model.functions import Bodies, Functions, FunctionTable
from pipeline.model.infos import DefinitionRow, Definitions, InfoRow, Infos, Target, Targets
from pipeline.problems.problem import Problem, SpecError, problem_of
from pipeline.releases.model import Release
from pipeline.rules.derivatives.info import canonical_function, create_infos
from pipeline.rules.derivatives.naming import NodeNames
from pipeline.rules.derivatives.suspicion import suspicious

# Stands for the name of a Node that is still to be given.
_UNNAMED = ""

# Infos that were not taken over, by what they were made from and dispatch key.
Fresh = dict[tuple[bytes, str], Info]


class Found(NamedTuple):
    targets: Targets
    problems: list[Problem]


class Made(NamedTuple):
    infos: Infos
    problems: list[Problem]


def targets_key(definitions: Definitions, functions: FunctionTable) -> bytes:
    """What the targets follow from."""
    return digest_of((functions.name, *(text for row in definitions.rows for text in (row.schema, row.name))))


def find_targets(definitions: Definitions, functions: Functions) -> Found:
    """The function that each definition is for, and every definition that is for none."""
    rows: list[Target | None] = []
    found: dict[str, int] = {}
    problems: list[Problem] = []
    for row in definitions.rows:
        try:
            index = canonical_function(row.schema, row.name, functions)
        except SpecError as error:
            problems += [_problem(each, row) for each in (error, *error.others)]
            rows.append(None)
            continue
        head = functions.heads[index]
        found[head.schema] = index
        rows.append(Target(head.schema, head.body))
    heads = functions.heads
    copy_of = {heads[view].name: heads[copy].schema for view, copy in functions.copies.items()}
    copies = {schema: copy_of.get(heads[index].name) for schema, index in found.items()}
    wanted = {schema: copy for schema, copy in copies.items() if copy is not None and copy not in found}
    return Found(Targets(tuple(rows), wanted), problems)


def run(
    definitions: Definitions, targets: Targets, functions: FunctionTable, release: Release, old: Infos | None
) -> Made:
    """The infos of all definitions that have a target, and every mistake and suspicion. `old` is the last result."""
    known: dict[bytes, list[InfoRow]] = {}
    for row in old.rows if old is not None else ():
        known.setdefault(row.key, []).append(row)
    problems: list[Problem] = []
    names = NodeNames()
    by_function: dict[str, dict[str, InfoRow]] = {}
    entries: dict[str, int] = {}
    fresh: Fresh = {}
    for definition, target in zip(definitions.rows, targets.rows):
        if target is None:
            continue
        key = definition.key + target.body
        rows = known.get(key)
        if rows is None:
            try:
                rows = _rows(key, definition, target, functions.bodies, release, fresh)
            except SpecError as error:
                problems += [_problem(each, definition) for each in (error, *error.others)]
                continue
        if target.schema in by_function:
            problems.append(_duplicate(definition, target.schema))
        entries[target.schema] = definition.entry
        named = by_function[target.schema] = {}
        for row in rows:
            problems += [msgspec.structs.replace(w, entry=definition.entry) for w in row.warnings]
            node = None if row.node is None else names.next(row.name, row.dispatch_key)
            named[row.dispatch_key] = _placed(row, definition.entry, node)
    for schema, copy in targets.copies.items():
        if schema in by_function:
            by_function[copy] = _copied(by_function[schema], copy, fresh, known)
    empty = {schema: entries[schema] for schema, found in by_function.items() if not found}
    infos = Infos(tuple(row for found in by_function.values() for row in found.values()), empty)
    for row in infos.rows:
        if (row.key, row.dispatch_key) in fresh:
            infos.decoded[row.schema, row.dispatch_key] = fresh[row.key, row.dispatch_key]
    return Made(infos, problems)


def _rows(
    key: bytes,
    row: DefinitionRow,
    target: Target,
    bodies: Bodies,
    release: Release,
    fresh: Fresh,
) -> list[InfoRow]:
    """The infos of one definition, without place and name."""
    definition = row.definition
    function = bodies.function(target.body)
    rows = []
    for dispatch_key, info in create_infos(definition, function, release):
        warnings = tuple(_problem(s, row, warning=True) for s in suspicious(definition, dispatch_key, info, function))
        node = _UNNAMED if info.args_with_derivatives else None
        rows.append(InfoRow(key, -1, target.schema, dispatch_key, info.name, node, Raw(encode(info)), warnings))
        fresh[key, dispatch_key] = info
    return rows


def _placed(row: InfoRow, entry: int, node: str | None) -> InfoRow:
    if row.entry == entry and row.node == node:
        return row
    return InfoRow(row.key, entry, row.schema, row.dispatch_key, row.name, node, row.body, row.warnings)


def _problem(error: SpecError, row: DefinitionRow, *, warning: bool = False) -> Problem:
    return problem_of(error, "derivatives", -1 if warning else row.entry, _op(row), warning=warning)


def _duplicate(row: DefinitionRow, schema: str) -> Problem:
    error = SpecError(f"a second definition for {schema}", "the later one wins: remove one of them", field=("name",))
    return problem_of(error, "derivatives", row.entry, _op(row), warning=True)


def _op(row: DefinitionRow) -> str:
    return row.schema.partition("(")[0]


def _copied(rows: dict[str, InfoRow], copy: str, fresh: Fresh, known: dict[bytes, list[InfoRow]]) -> dict[str, InfoRow]:
    """A view's copy is differentiated as the view, unless it has a definition of its own."""
    copied: dict[str, InfoRow] = {}
    for dispatch_key, row in rows.items():
        key = digest_of((row.key, dispatch_key, copy))
        name = _copy_name(row.name)
        if key in known:
            body = known[key][0].body
        else:
            info = fresh.get((row.key, dispatch_key)) or row.info
            info = fresh[key, dispatch_key] = msgspec.structs.replace(info, name=name, func=copy)
            body = Raw(encode(info))
        node = None if row.node is None else f"{row.node}_copy"
        copied[dispatch_key] = InfoRow(key, row.entry, copy, dispatch_key, name, node, body)
    return copied


def _copy_name(name: str) -> str:
    """Upstream appends the overload after a dot, and there is none: the name ends with the dot."""
    return f"{name}_copy."
