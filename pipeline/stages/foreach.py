"""Stage `foreach`: derivatives of `_foreach_*` functions that have no definition of their own.

Reads all functions and `Infos`; writes `References`, which op serves which foreach function, and `Foreach`.
References are looked up again when a function changed, or which functions have infos. An info is synthesized again
when the function, its reference or the reference's info changed.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Raw

from pipeline.model.artifact import digest_of, encode
from pipeline.model.autograd import Info
from pipeline.model.functions import Bodies, Functions, FunctionTable
from pipeline.model.infos import Foreach, InfoRow, Infos, Reference, References
from pipeline.problems.problem import Problem, SpecError, problem_of
from pipeline.releases.model import Release
from pipeline.rules.derivatives.foreach import PREFIX, find_reference, foreach_node, synthesize

# Foreach functions refer to the derivatives of this key only; upstream has it fixed too.
DISPATCH_KEY = "Default"


class Synthesized(NamedTuple):
    foreach: Foreach
    problems: list[Problem]


class _Candidates(NamedTuple):
    """Functions with derivatives by base name: the functional ones, and the rest."""

    functional: dict[str, list[int]]
    others: dict[str, list[int]]


def references_key(functions: FunctionTable, infos: Infos) -> bytes:
    """What the references follow from."""
    return digest_of((functions.name, infos.shape))


def find_references(functions: FunctionTable, infos: Infos, release: Release) -> References:
    """The function whose derivatives serve each foreach function, where there is one."""
    candidates = _index(functions.all, infos)
    rows = []
    for index in _foreach_functions(functions.all, infos):
        head = functions.heads[index]
        base = head.base.split(PREFIX)[-1]
        if base not in candidates.functional and base not in candidates.others:
            continue
        at = find_reference(
            head,
            functions.function(index),
            candidates.functional.get(base, ()),
            candidates.others.get(base, ()),
            functions.function,
            release,
        )
        if at is not None:
            found = functions.heads[at]
            inplace = head.kind == "inplace"
            rows.append(Reference(head.schema, head.name, inplace, head.body, found.schema, found.name, found.body))
    return References(tuple(rows))


def run(
    references: References, infos: Infos, functions: FunctionTable, release: Release, old: Foreach | None
) -> Synthesized:
    """What every foreach function differentiates by, and every mistake found on the way. `old` is the last result."""
    known = {row.key: row for row in old.infos.rows} if old is not None else {}
    rows: list[InfoRow] = []
    fresh: dict[tuple[str, str], Info] = {}
    borrowed: dict[str, str] = {}
    problems: list[Problem] = []
    for reference in references.rows:
        sources = infos.by_schema.get(reference.reference, {})
        source = sources.get(DISPATCH_KEY)
        try:
            if source is None:
                raise SpecError(
                    f"foreach op '{reference.name}' refers to this definition, which has no {DISPATCH_KEY} derivatives",
                    f"add {DISPATCH_KEY} formulas",
                    field=("dispatch",),
                )
            if reference.inplace:
                borrowed[reference.schema] = reference.reference
                continue
            key = digest_of((reference.body, reference.reference_body, infos.digests[source.schema, DISPATCH_KEY]))
            row = known.get(key)
            if row is None:
                info = _synthesized(reference, infos.info(source), functions.bodies, release)
                fresh[reference.schema, DISPATCH_KEY] = info
                body, differentiable = Raw(encode(info)), bool(info.args_with_derivatives)
            else:
                body, differentiable = row.body, row.node is not None
        except SpecError as error:
            entry = next((row.entry for row in sources.values()), infos.empty.get(reference.reference, -1))
            problems.append(problem_of(error, "derivatives", entry, reference.reference_name))
            continue
        node = foreach_node(source.node, reference.overload) if differentiable else None
        rows.append(InfoRow(key, source.entry, reference.schema, DISPATCH_KEY, reference.base, node, body))
    synthesized = Infos(tuple(rows))
    synthesized.decoded.update(fresh)
    return Synthesized(Foreach(synthesized, borrowed), problems)


def _synthesized(reference: Reference, info: Info, bodies: Bodies, release: Release) -> Info:
    return synthesize(bodies.function(reference.body), bodies.function(reference.reference_body), info, release)


def _index(functions: Functions, infos: Infos) -> _Candidates:
    """The functions that have infos. Of those that share a signature the last one counts, at the first one's place."""
    functional: dict[str, int] = {}
    others: dict[str, int] = {}
    for schema in [*infos.by_schema, *infos.empty]:
        index = functions.by_schema[schema]
        head = functions.heads[index]
        (functional if head.kind == "functional" else others)[head.plain_signature] = index
    return _Candidates(_by_base(functional, functions), _by_base(others, functions))


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
        if head.base.startswith(PREFIX)
        and head.schema not in infos.by_schema
        and head.schema not in infos.empty
        and not (head.generated and (head.kind == "out" or head.plain_signature in written))
    ]
    return sorted(found, key=lambda i: heads[i].cpp_name)
