"""Stage `infos`: definitions and schemas to differentiability infos, and the names of the Nodes.

Reads `Definitions` and `Functions`; writes `Infos`. An info is made again when its definition, or the function it
is for, changed; naming is done anew each time, since a new entry may move the numbers of later ones.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Raw

from pipeline.model.artifact import digest_of, encode
from pipeline.model.autograd import Info
from pipeline.model.functions import Functions
from pipeline.model.infos import DefinitionRow, Definitions, InfoRow, Infos
from pipeline.problems import Problem, SpecError, problem_of
from pipeline.releases.model import Release
from pipeline.rules.info import canonical_function, create_infos
from pipeline.rules.naming import NodeNames
from pipeline.rules.suspicion import suspicious


class Made(NamedTuple):
    infos: Infos
    problems: list[Problem]


class _Row(NamedTuple):
    """An info before it is named."""

    key: bytes
    dispatch_key: str
    name: str
    differentiable: bool
    body: Raw
    info: Info | None
    warnings: tuple[Problem, ...]


def run(definitions: Definitions, functions: Functions, release: Release, previous: Infos | None) -> Made:
    """The infos of all definitions that are right, and every mistake and suspicion."""
    known: dict[bytes, list[_Row]] = {}
    for row in previous.rows if previous is not None else ():
        known.setdefault(row.key, []).append(
            _Row(row.key, row.dispatch_key, row.name, row.node is not None, row.body, None, row.warnings)
        )
    problems: list[Problem] = []
    names = NodeNames()
    by_function: dict[int, dict[str, InfoRow]] = {}
    entries: dict[int, int] = {}
    fresh: dict[tuple[str, str], Info] = {}
    for definition_row in definitions.rows:
        try:
            index = canonical_function(definition_row.definition, functions)
            made = _rows(definition_row, index, functions, release, known)
        except SpecError as error:
            problems += [_problem(each, definition_row) for each in (error, *error.others)]
            continue
        if index in by_function:
            problems.append(_duplicate(definition_row, functions.heads[index].schema))
        schema = functions.heads[index].schema
        by_function[index] = {}
        entries[index] = definition_row.entry
        for unnamed in made:
            problems += [msgspec.structs.replace(w, entry=definition_row.entry) for w in unnamed.warnings]
            node = names.next(unnamed.name, unnamed.dispatch_key) if unnamed.differentiable else None
            by_function[index][unnamed.dispatch_key] = InfoRow(
                unnamed.key,
                definition_row.entry,
                schema,
                unnamed.dispatch_key,
                unnamed.name,
                node,
                unnamed.body,
                unnamed.warnings,
            )
            if unnamed.info is not None:
                fresh[schema, unnamed.dispatch_key] = unnamed.info
    _add_copies(by_function, functions, fresh, known)
    empty = {functions.heads[index].schema: entries[index] for index, rows in by_function.items() if not rows}
    infos = Infos(tuple(row for rows in by_function.values() for row in rows.values()), empty)
    infos.decoded.update(fresh)
    return Made(infos, problems)


def _rows(
    row: DefinitionRow, index: int, functions: Functions, release: Release, known: dict[bytes, list[_Row]]
) -> list[_Row]:
    key = digest_of((row.key, functions.heads[index].body))
    if key in known:
        return known[key]
    function = functions.function(index)
    return [
        _Row(
            key,
            dispatch_key,
            info.name,
            bool(info.args_with_derivatives),
            Raw(encode(info)),
            info,
            tuple(_problem(s, row, warning=True) for s in suspicious(row.definition, dispatch_key, info, function)),
        )
        for dispatch_key, info in create_infos(row.definition, function, release)
    ]


def _problem(error: SpecError, row: DefinitionRow, *, warning: bool = False) -> Problem:
    op = row.definition.schema.partition("(")[0]
    return problem_of(error, "derivatives", -1 if warning else row.entry, op, warning=warning)


def _duplicate(row: DefinitionRow, schema: str) -> Problem:
    error = SpecError(f"a second definition for {schema}", "the later one wins: remove one of them", field=("name",))
    return problem_of(error, "derivatives", row.entry, row.definition.schema.partition("(")[0], warning=True)


def _add_copies(
    by_function: dict[int, dict[str, InfoRow]],
    functions: Functions,
    fresh: dict[tuple[str, str], Info],
    known: dict[bytes, list[_Row]],
) -> None:
    """A view's copy is differentiated as the view, unless it has a definition of its own."""
    added: dict[int, dict[str, InfoRow]] = {}
    names = {functions.heads[view].name: copy for view, copy in functions.copies.items()}
    for index, rows in by_function.items():
        copy = names.get(functions.heads[index].name)
        if copy is None or copy in by_function:
            continue
        schema = functions.heads[copy].schema
        added[copy] = {}
        for dispatch_key, row in rows.items():
            key = digest_of((row.key, dispatch_key, schema))
            name = _copy_name(row.name)
            if key in known:
                body = known[key][0].body
            else:
                info = fresh.get((row.schema, dispatch_key)) or row.info
                info = fresh[schema, dispatch_key] = msgspec.structs.replace(info, name=name, func=schema)
                body = Raw(encode(info))
            node = None if row.node is None else f"{row.node}_copy"
            added[copy][dispatch_key] = InfoRow(key, row.entry, schema, dispatch_key, name, node, body)
    by_function.update(added)


def _copy_name(name: str) -> str:
    """Upstream appends the overload after a dot, and there is none: the name ends with the dot."""
    return f"{name}_copy."
