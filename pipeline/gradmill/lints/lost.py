"""Functions that lost their derivative because one of two names changed: variants are matched by name.

An in-place function inherits the derivative of the functional one with its signature, a foreach function that of its
reference. Upstream reports nothing if there is none, as many functions have no derivative. It is an error if no
function has the missing name, and a function with a derivative has nearly that name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from gradmill.model.regex import regex
from gradmill.problems.names import Hint, nearest
from gradmill.problems.problem import SpecError

_FOREACH = "_foreach_"
_WRITES = regex(r"\(\w+!\)")  # the annotation of an argument that the function writes to


Suspect = tuple[str, str]  # a function, its name
NearMiss = tuple[str, str, str]  # a function, its name, and the operator with nearly the name of its functional variant


def suspects(without: Iterable[tuple[str, str]], names: Collection[str]) -> Iterator[Suspect]:
    """The functions `without` derivatives, as pairs of identity and name, that lack a function to inherit one from.
    `names` are those of all declared functions that may be their variants."""
    for function, name in without:
        named = name.startswith(_FOREACH) or (name.endswith("_") and not name.endswith("__"))
        if named and _base(name) not in names:
            yield function, name


def near_misses(suspects: Iterable[Suspect], derived: Collection[str]) -> Iterator[NearMiss]:
    """The suspects with nearly the name of a function that has a derivative. `derived` are the names of all declared
    functions with derivatives, without the generated ones."""
    for function, name in suspects:
        base = _base(name)
        hint = nearest(base, derived)
        close = hint.fix[1] if hint.fix is not None else ""
        if close and not close.endswith("_") and name.replace(base, close) not in derived:
            yield function, name, close


def lost(name: str, close: str, schema: str, others: Iterable[str]) -> SpecError | None:
    """The error for a function that is nearly a variant of the operator `close`; None if their arguments differ.
    `others` are the schemas of that operator's declared functions with derivatives."""
    if not name.startswith(_FOREACH) and _arguments(schema) not in map(_arguments, others):
        return None
    base = _base(name)
    problem = f"'{name}' has no derivative: there is no '{base}' that it could inherit one from"
    meant = Hint(f"did you mean '{name.replace(base, close)}'?", (name, name.replace(base, close)))
    return SpecError(problem, meant, field=("func",), needle=name, rule="lost-derivative")


def _base(name: str) -> str:
    """The operator that a function could inherit a derivative from."""
    return name.removeprefix(_FOREACH).removesuffix("_")


def _arguments(schema: str) -> str:
    """The arguments in a schema, without the annotations of those that are written to."""
    return _WRITES.sub("", schema.partition("(")[2].rpartition(" -> ")[0])
