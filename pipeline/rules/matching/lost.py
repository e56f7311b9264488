"""Functions that lost their derivative because one of two names changed: variants find each other by name.

An in-place function takes over the derivative of the functional one of its signature, a foreach function that of its
reference. Upstream says nothing where there is none, as many functions have no derivative. It is surely a slip where no
function has the name that is missing, and it is nearly that of one which has a derivative.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pipeline.model.regex import regex
from pipeline.problems.names import EDITS_OF_LONG, Hint, nearest
from pipeline.problems.problem import SpecError

_FOREACH = "_foreach_"
_WRITES = regex(r"\(\w+!\)")  # how a schema says that an argument is written to


Suspect = tuple[str, str]  # a function, its name
Slip = tuple[str, str, str]  # the same, and the name of the operator that it is nearly a variant of


def suspects(without: Iterable[tuple[str, str]], names: Collection[str]) -> Iterator[Suspect]:
    """The functions for whose names that of another one is missing, of those `without` derivatives, which are given
    with what they are called. `names` are of all functions that may be variants of these, and that somebody wrote."""
    for function, name in without:
        named = name.startswith(_FOREACH) or (name.endswith("_") and not name.endswith("__"))
        if named and _base(name) not in names:
            yield function, name


def slips(suspects: Iterable[Suspect], derived: Collection[str]) -> Iterator[Slip]:
    """The suspects whose names are nearly those of functions that would have derivatives. `derived` are the names of
    all functions with derivatives that somebody wrote, not of those that are generated."""
    letters: dict[int, list[tuple[str, int]]] = {}  # by length
    for other in derived:
        letters.setdefault(len(other), []).append((other, _letters(other)))
    for function, name in suspects:
        base = _base(name)
        own = _letters(base)
        lengths = range(len(base) - EDITS_OF_LONG, len(base) + EDITS_OF_LONG + 1)
        near = [
            other
            for length in lengths
            for other, found in letters.get(length, ())
            if (own ^ found).bit_count() <= 2 * EDITS_OF_LONG  # no more may differ after so few slips
        ]
        hint = nearest(base, near) if near else ""
        close = hint.fix[1] if isinstance(hint, Hint) and hint.fix is not None else ""
        if close and not close.endswith("_") and name.replace(base, close) not in derived:
            yield function, name, close


def lost(name: str, close: str, schema: str, others: Iterable[str]) -> SpecError | None:
    """What is wrong with a function that is nearly a variant of an operator. `others` are the schemas of the functions
    of that operator that have derivatives and that somebody wrote."""
    if not name.startswith(_FOREACH) and _arguments(schema) not in map(_arguments, others):
        return None
    base = _base(name)
    problem = f"'{name}' has no derivative: there is no '{base}' whose derivative it could take over"
    meant = Hint(f"did you mean '{name.replace(base, close)}'?", (name, name.replace(base, close)))
    return SpecError(problem, meant, field=("func",), needle=name, rule="lost-derivative")


def _base(name: str) -> str:
    """The operator whose derivative a function could take over."""
    return name.removeprefix(_FOREACH).removesuffix("_")


def _letters(name: str) -> int:
    """The letters of a name, as bits."""
    bits = 0
    for letter in name:
        bits |= 1 << ord(letter)
    return bits


def _arguments(schema: str) -> str:
    """The arguments of a function, whether it writes to them or not."""
    return _WRITES.sub("", schema.partition("(")[2].rpartition(" -> ")[0])
