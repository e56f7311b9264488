"""Functions that lost their derivative because one of two names changed: variants find each other by name.

An in-place function takes over the derivative of the functional one of its signature, a foreach function that of its
reference. Upstream says nothing where there is none, as many functions have no derivative. It is surely a slip where
the name that is missing is nearly that of a function which has a derivative and no such variant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.model.native import FunctionHead
from pipeline.problems.names import Hint, is_certain, nearest
from pipeline.problems.problem import SpecError

_FOREACH = "_foreach_"


def lost(
    without: Iterable[tuple[str, FunctionHead]], derived: Iterable[FunctionHead]
) -> Iterator[tuple[str, SpecError]]:
    """The functions `without` derivatives that surely should have one, and why; `derived` have one of their own."""
    without, derived = list(without), list(derived)
    bases = {head.base for head in derived if head.kind == "functional" and not head.base.startswith(_FOREACH)}
    inplace = {_arguments(head.signature): set[str]() for head in derived}
    for head in derived:
        if head.kind == "functional":
            inplace[_arguments(head.signature)].add(head.base)
    for name, head in without:
        if head.kind == "inplace" and not head.is_foreach:
            found = _slip(head.base, inplace.get(_arguments(head.signature), set()), f"{head.base}_", "{}_")
        elif head.is_foreach and head.kind in ("functional", "inplace"):
            found = _slip(
                head.base.removeprefix(_FOREACH),
                bases,
                head.unqualified,
                head.unqualified.replace(head.base, _FOREACH + "{}"),
            )
        else:
            found = None
        if found is not None:
            yield name, found


def _slip(base: str, bases: set[str], called: str, meant: str) -> SpecError | None:
    """What is wrong with a function whose name is nearly one that would have a derivative."""
    if base in bases:
        return None
    hint = nearest(base, bases)
    close = hint.fix[1] if isinstance(hint, Hint) and hint.fix is not None else ""
    if not close or not is_certain(base, close, bases):
        return None
    problem = f"'{called}' has no derivative: there is no '{base}' whose derivative it could take over"
    return SpecError(
        problem, f"did you mean '{meant.format(close)}'?", field=("func",), needle=called, rule="lost-derivative"
    )


def _arguments(signature: str) -> str:
    return signature.partition("(")[2]
