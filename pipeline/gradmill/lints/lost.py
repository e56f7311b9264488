"""Functions that lost their derivative because one of two names changed: variants are matched by name.

An in-place function or an out variant inherits the derivative of the functional one with its signature, a foreach
function that of its reference. Upstream reports nothing if there is none, as many functions have no derivative. It is
an error if no function has the missing name, and a function with a derivative has nearly that name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from gradmill.model.native import FunctionSummary
from gradmill.problems.names import Hint, nearest
from gradmill.problems.problem import SpecError

_FOREACH = "_foreach_"


Suspect = tuple[str, str]  # a function, its operator
NearMiss = tuple[str, str, str]  # the same, and the operator with nearly the name of its functional variant


def suspects(without: Iterable[tuple[str, str]], operators: Collection[str]) -> Iterator[Suspect]:
    """The functions `without` derivatives, as pairs of identity and operator, that lack a function to inherit one from.
    `operators` are all declared ones that may be their variants."""
    names = {_name(operator) for operator in operators}
    functional = {_name(operator) for operator in operators if not _is_out(operator)}
    for function, operator in without:
        name = _name(operator)
        named = name.startswith(_FOREACH) or (name.endswith("_") and not name.endswith("__"))
        if (named and _base(name) not in names) or (_is_out(operator) and name not in functional):
            yield function, operator


def near_misses(suspects: Iterable[Suspect], derived: Collection[str]) -> Iterator[NearMiss]:
    """The suspects with nearly the name of a function that has a derivative. `derived` are the names of all declared
    functions with derivatives, without the generated ones."""
    functional = [name for name in derived if not name.endswith("_")]
    for function, operator in suspects:
        name = _name(operator)
        base = _base(name)
        hint = nearest(base, functional)
        close = hint.fix[1] if hint.fix is not None else ""
        if close and (name == base or name.replace(base, close) not in derived):
            yield function, operator, close


def lost(own: FunctionSummary, close: str, others: Sequence[FunctionSummary]) -> SpecError | None:
    """The error for a function that is nearly a variant of the operator `close`; None if their arguments differ, or it
    has an out variant of its own. `others` are that operator's declared functions with derivatives."""
    name, is_out = own.unqualified, _is_out(own.name)
    same = [other.kind for other in others if _arguments(other) == _arguments(own)]
    if (is_out and "out" in same) or not (same or name.startswith(_FOREACH)):
        return None
    base, shown = _base(name), own.name if is_out else name
    problem = f"'{shown}' has no derivative: there is no '{base}' that it could inherit one from"
    meant = Hint(f"did you mean '{shown.replace(base, close)}'?", (name, name.replace(base, close)))
    return SpecError(problem, meant, field=("func",), needle=name, rule="lost-derivative")


def _name(operator: str) -> str:
    """The name of an operator, without its overload."""
    return operator.partition(".")[0]


def _is_out(operator: str) -> bool:
    """Whether an operator is named as an out variant."""
    return operator.partition(".")[2].endswith("out")


def _base(name: str) -> str:
    """The operator that a function could inherit a derivative from."""
    return name.removeprefix(_FOREACH).removesuffix("_")


def _arguments(head: FunctionSummary) -> tuple[str, str]:
    """The namespace and the arguments that a function shares with its variants."""
    operator, _, rest = head.signature.partition("(")
    return operator.rpartition("::")[0], rest.rpartition(" -> ")[0]
