"""Functions that lost their derivative because one of two names changed: variants find each other by name.

An in-place function takes over the derivative of the functional one of its signature, a foreach function that of its
reference. Upstream says nothing where there is none, as many functions have no derivative. It is surely a slip where no
function has the name that is missing, and it is nearly that of one which has a derivative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.model.regex import regex
from pipeline.problems.names import SLIPS_OF_LONG, Hint, nearest
from pipeline.problems.problem import SpecError

_FOREACH = "_foreach_"
_WRITES = regex(r"\(\w+!\)")  # how a schema says that an argument is written to


Suspect = tuple[str, str, str]  # a function, its name, its schema


def suspects(without: Iterable[tuple[str, str]], schemas: Iterable[str]) -> Iterator[Suspect]:
    """The functions for whose names that of another one is missing, of those `without` derivatives, which are given
    with their schemas. `schemas` are of all functions that may be variants of these, and that somebody wrote."""
    names = set(map(_name, schemas))
    for function, schema in without:
        name = _name(schema)
        named = name.startswith(_FOREACH) or (name.endswith("_") and not name.endswith("__"))
        if named and _base(name) not in names:
            yield function, name, schema


def lost(suspects: Iterable[Suspect], schemas: Iterable[str]) -> Iterator[tuple[str, SpecError]]:
    """The suspects that surely should have derivatives, and why. `schemas` are of all functions with derivatives that
    somebody wrote, not of those that are generated."""
    derived: dict[str, list[str]] = {}  # by name
    for schema in schemas:
        derived.setdefault(_name(schema), []).append(schema)
    letters: dict[int, list[tuple[str, int]]] = {}  # by length
    for other in derived:
        letters.setdefault(len(other), []).append((other, _letters(other)))
    for function, name, schema in suspects:
        base = _base(name)
        own = _letters(base)
        lengths = range(len(base) - SLIPS_OF_LONG, len(base) + SLIPS_OF_LONG + 1)
        near = [
            other
            for length in lengths
            for other, found in letters.get(length, ())
            if (own ^ found).bit_count() <= 2 * SLIPS_OF_LONG  # no more may differ after so few slips
        ]
        error = _slip(name, base, schema, near, derived) if near else None
        if error is not None:
            yield function, error


def _name(schema: str) -> str:
    return schema.partition("(")[0].partition(".")[0]


def _base(name: str) -> str:
    """The operator whose derivative a function could take over."""
    return name.removeprefix(_FOREACH).removesuffix("_")


def _letters(name: str) -> int:
    """The letters of a name, as bits."""
    bits = 0
    for letter in name:
        bits |= 1 << ord(letter)
    return bits


def _slip(name: str, base: str, schema: str, near: list[str], derived: dict[str, list[str]]) -> SpecError | None:
    """What is wrong with a function whose name is nearly one that would have a derivative."""
    hint = nearest(base, near)
    close = hint.fix[1] if isinstance(hint, Hint) and hint.fix is not None else ""
    if not close or close.endswith("_") or name.replace(base, close) in derived:
        return None
    if not name.startswith(_FOREACH) and _arguments(schema) not in map(_arguments, derived[close]):
        return None
    problem = f"'{name}' has no derivative: there is no '{base}' whose derivative it could take over"
    meant = Hint(f"did you mean '{name.replace(base, close)}'?", (name, name.replace(base, close)))
    return SpecError(problem, meant, field=("func",), needle=name, rule="lost-derivative")


def _arguments(schema: str) -> str:
    """The arguments of a function, whether it writes to them or not."""
    return _WRITES.sub("", schema.partition("(")[2].rpartition(" -> ")[0])
