"""Stage `foreach`: derivatives of `_foreach_*` functions that have no definition of their own.

Reads `Functions` and `Infos`; writes `Foreach`. Which op serves which foreach function is looked up anew each time;
an info is synthesized again when the function, its reference or the reference's info changed.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Raw

from pipeline.model.artifact import digest_of, encode
from pipeline.model.autograd import Info
from pipeline.model.functions import Functions
from pipeline.model.infos import Foreach, InfoRow, Infos
from pipeline.problems import Problem, SpecError, problem_of
from pipeline.releases.model import Release
from pipeline.rules.foreach import PREFIX, find_reference, foreach_node, synthesize

# Foreach functions refer to the derivatives of this key only; upstream has it fixed too.
DISPATCH_KEY = "Default"


class Synthesized(NamedTuple):
    foreach: Foreach
    problems: list[Problem]


class _References(NamedTuple):
    """Functions with derivatives by base name: the functional ones, and the rest."""

    functional: dict[str, list[int]]
    others: dict[str, list[int]]


def run(functions: Functions, infos: Infos, release: Release, previous: Foreach | None) -> Synthesized:
    """What every foreach function differentiates by, and every mistake found on the way."""
    known = {row.key: row for row in previous.infos.rows} if previous is not None else {}
    references = _index(functions, infos)
    rows: list[InfoRow] = []
    fresh: dict[tuple[str, str], Info] = {}
    borrowed: dict[str, str] = {}
    problems: list[Problem] = []
    for index in _foreach_functions(functions, infos):
        head = functions.heads[index]
        base = head.base.split(PREFIX)[-1]
        if base not in references.functional and base not in references.others:
            continue
        at = find_reference(
            head,
            functions.function(index),
            references.functional.get(base, ()),
            references.others.get(base, ()),
            functions.function,
            release,
        )
        if at is None:
            continue
        reference = functions.heads[at]
        sources = infos.by_schema.get(reference.schema, {})
        source = sources.get(DISPATCH_KEY)
        try:
            if source is None:
                raise SpecError(
                    f"foreach op '{head.name}' refers to this definition, which has no {DISPATCH_KEY} derivatives",
                    f"add {DISPATCH_KEY} formulas",
                    field=("dispatch",),
                )
            if head.kind == "inplace":
                borrowed[head.schema] = reference.schema
                continue
            row = _row(index, at, source, functions, infos, release, known, fresh)
        except SpecError as error:
            entry = next((row.entry for row in sources.values()), infos.empty.get(reference.schema, -1))
            problems.append(problem_of(error, "derivatives", entry, reference.name))
            continue
        rows.append(row)
    synthesized = Infos(tuple(rows))
    synthesized.decoded.update(fresh)
    return Synthesized(Foreach(synthesized, borrowed), problems)


def _row(
    index: int,
    at: int,
    source: InfoRow,
    functions: Functions,
    infos: Infos,
    release: Release,
    known: dict[bytes, InfoRow],
    fresh: dict[tuple[str, str], Info],
) -> InfoRow:
    head = functions.heads[index]
    function = functions.function(index)
    key = digest_of((head.body, functions.heads[at].body, source.digest))
    old = known.get(key)
    if old is not None:
        body, differentiable = old.body, old.node is not None
    else:
        info = synthesize(function, functions.function(at), infos.info(source), release)
        fresh[head.schema, DISPATCH_KEY] = info
        body, differentiable = Raw(encode(info)), bool(info.args_with_derivatives)
    node = foreach_node(source.node, function) if differentiable else None
    return InfoRow(key, source.entry, head.schema, DISPATCH_KEY, head.base, node, body)


def _index(functions: Functions, infos: Infos) -> _References:
    """The functions that have infos. Of those that share a signature the last one counts, at the first one's place."""
    functional: dict[str, int] = {}
    others: dict[str, int] = {}
    for schema in [*infos.by_schema, *infos.empty]:
        index = functions.by_schema[schema]
        head = functions.heads[index]
        (functional if head.kind == "functional" else others)[head.plain_signature] = index
    return _References(_by_base(functional, functions), _by_base(others, functions))


def _by_base(indices: dict[str, int], functions: Functions) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index in indices.values():
        found.setdefault(functions.heads[index].base, []).append(index)
    return found


def _foreach_functions(functions: Functions, infos: Infos) -> list[int]:
    """Foreach functions that nothing else serves, in the order in which upstream meets them: by C++ name.

    Generated out variants have no derivatives; generated functional ones follow their mutable variant.
    """
    heads = functions.heads
    written = {
        heads[functions.by_schema[schema]].plain_signature
        for schema in infos.by_schema
        if heads[functions.by_schema[schema]].kind != "functional"
    }
    found = [
        i
        for i, head in enumerate(heads)
        if head.is_foreach
        and head.schema not in infos.by_schema
        and head.schema not in infos.empty
        and not (head.generated and (head.kind == "out" or head.plain_signature in written))
    ]
    return sorted(found, key=lambda i: heads[i].cpp_name)
