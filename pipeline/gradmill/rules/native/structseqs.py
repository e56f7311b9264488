"""The classes of named results that Python has.

torchgen: `gen_python_functions.generate_return_type_definition_and_registrations`,
`gen_python_functions.gen_structseq_typename_key`, `python.structseq_fieldnames`.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.model.native import FunctionSummary, Structseq
from gradmill.model.schema import Schema
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.python_names import is_bound


def named_results(schema: Schema) -> tuple[str, ...]:
    """The names of several results; none if they have none. SpecError if only some have names."""
    names = _field_names(str(schema))
    return all_named(names if any(names) else ())


def all_named(fields: tuple[str, ...]) -> tuple[str, ...]:
    """The same names. SpecError if one is missing."""
    if "" in fields:
        raise SpecError("some returns have a name and some have none", "name all of them, or none", field=("func",))
    return fields


def key_of(name: str, fields: Iterable[str]) -> str:
    """What functions share that share a class, by C++ name and the names of results."""
    return "_".join((name, *fields))


def returns_structseq(head: FunctionSummary) -> bool:
    """Whether a function returns several values, at least one with a name."""
    return any(_field_names(head.schema))


def structseqs(listed: Iterable[tuple[str, FunctionSummary]], release: Release) -> dict[str, Structseq | None]:
    """The class of results of each function that needs one, by identity; None if an earlier overload of the function
    has the same. `listed` are the functions of a bucket in their order: overloads are in one bucket."""
    results: dict[str, Structseq | None] = {}
    known: dict[str, set[str]] = {}
    for name, head in listed:
        if returns_structseq(head) and is_bound(head, release):
            fields, earlier = _field_names(head.schema), known.setdefault(head.unqualified, set())
            key = key_of(head.cpp_name, fields)
            results[name] = Structseq(head.cpp_name, fields, len(earlier)) if key not in earlier else None
            earlier.add(key)
    return results


def _field_names(schema: str) -> tuple[str, ...]:
    """The names of several returns, "" for a return without a name; none if the function returns one value."""
    _, several, returns = schema.rpartition(") -> (")
    names = [each.rpartition(" ")[2] if " " in each else "" for each in returns.removesuffix(")").split(", ")]
    return tuple(name if name.isidentifier() else "" for name in names) if several and len(names) > 1 else ()
