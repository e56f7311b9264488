"""The calls in formulas: what is called, and how. One reading for links in formulas and for lists of users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradmill.cpp.expression import TYPES, tokens_of
from gradmill.lints.known import ATEN, CALL, METHOD
from gradmill.lints.uses import read_uses

_KINDS = {"": CALL, "at::": ATEN, ".": METHOD}  # by the scope of the name


class Call(NamedTuple):
    """A call in a formula."""

    kind: str  # CALL of a plain name, ATEN with `at::`, METHOD of a value; "" in another namespace
    name: str


def calls_at(text: str) -> Iterator[tuple[int, Call]]:
    """The calls in a formula, in their order, each with the end of its name; none of comments and strings."""
    for use in read_uses(tokens_of(text)).uses:
        end = use.start + len(use.name)
        if use.called or (use.after == "<" and _calls_template(text, end)):
            yield end, Call(_KINDS.get(use.scope, ""), use.name)


def calls_in(text: str) -> Iterator[Call]:
    """The calls in a formula, without those in another namespace than `at`."""
    return (call for _, call in calls_at(text) if call.kind)


def _calls_template(text: str, end: int) -> bool:
    """Whether the name that ends here is a template with types, and is called: not constructed with braces."""
    types = TYPES.match(text, end)
    return types is not None and text[types.end()] == "("
