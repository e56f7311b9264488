"""Functions that lost their derivative because one of two names changed: variants find each other by name.

An in-place function takes over the derivative of the functional one of its signature, a foreach function that of its
reference. Upstream says nothing where there is none, as many functions have no derivative. It is surely a slip where no
function has the name that is missing, and it is nearly that of one which has a derivative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.model.nodes import Pair
from pipeline.model.regex import regex
from pipeline.problems.names import SLIPS_OF_LONG, Hint, nearest
from pipeline.problems.problem import SpecError

_FOREACH = "_foreach_"
_WRITES = regex(r"\(\w+!\)")  # how a schema says that an argument is written to


def lost(pairs: Iterable[Pair]) -> Iterator[tuple[str, SpecError]]:
    """The functions without derivatives that surely should have some, and why. `pairs` are all functions that
    somebody wrote, not those that are generated."""
    names: set[str] = set()  # of all functions
    derived: dict[str, list[str]] = {}  # the schemas of functions with derivatives, by name
    candidates: list[tuple[str, str, str]] = []
    for pair in pairs:
        schema = pair.schema
        name = schema.partition("(")[0].partition(".")[0]
        names.add(name)
        if pair.source is not None:
            derived.setdefault(name, []).append(schema)
        elif name.startswith(_FOREACH) or (name.endswith("_") and not name.endswith("__")):
            candidates.append((pair.function, name, schema))
    letters: dict[int, list[tuple[str, int]]] = {}  # by length
    for other in derived:
        letters.setdefault(len(other), []).append((other, _letters(other)))
    for function, name, schema in candidates:
        base = name.removeprefix(_FOREACH).removesuffix("_")
        if base not in names:
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
