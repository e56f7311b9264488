"""The calls in formulas: what is called, and how. One reading for links in formulas and for lists of users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from gradmill.cpp.expression import TYPES, tokens_of
from gradmill.lints.known import ATEN, CALL, METHOD
from gradmill.lints.uses import read_uses
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages.derivatives import buckets, definitions, in_order

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


# ---- the calls of all formulas


class Calls(Struct, frozen=True, array_like=True):
    """The calls of a formula, and its place."""

    entry: str
    dispatch_key: str  # "" if the entry has none
    field: str
    called: tuple[Call, ...]

    @property
    def place(self) -> str:
        """The field, in the entry."""
        return f"dispatch: {self.dispatch_key}: {self.field}" if self.dispatch_key else self.field


@query
def calls(db: Database, bucket: str) -> list[Calls]:
    """The calls in the formulas of a bucket of definitions. An edit that calls the same changes nothing here."""
    return [
        Calls(entry, key if parsed.by_key else "", each.key, tuple(calls_in(each.formula)))
        for entry, parsed in definitions(db, bucket).items()
        for key, formulas in parsed.dispatch
        for each in formulas
    ]


def all_calls(db: Database) -> list[Calls]:
    """The calls in all formulas, in the order of the file."""
    return in_order(db, (each for bucket in db.names(buckets) for each in calls(db, bucket)), lambda each: each.entry)


def calls_of(db: Database, name: str) -> list[Calls]:
    """The formulas that call a function by its plain name."""
    return [each for each in all_calls(db) if Call(CALL, name) in each.called]


def method_calls(db: Database) -> Counter[str]:
    """How often the formulas of the set call each method."""
    return Counter(call.name for each in all_calls(db) for call in each.called if call.kind == METHOD)
