"""The helpers that formulas may call, their declarations in the set's headers, and the formulas that call them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from pipeline.query.database import Database
from pipeline.reports.calls import Call, calls_in
from pipeline.rules.derivatives.calls import counted
from pipeline.rules.derivatives.known import CALL
from pipeline.stages.derivatives import definition
from pipeline.stages.formulas.vocabulary import declarations, helpers_of_release
from pipeline.stages.set import spec_set
from pipeline.stages.specs import entries

_METHOD = re.compile(r"(?:\.|->)\s*([A-Za-z_]\w*)\s*\(")


class Helper(Struct, frozen=True):
    """A declaration of a helper in a header."""

    name: str
    header: str  # its name in the set
    line: int  # counted from 1
    text: str


def all_declared(db: Database) -> Iterator[Helper]:
    """All declarations of helpers in the headers of the set, header by header."""
    for header in spec_set(db).headers:
        for name, each in declarations(db, header).items():
            yield from (Helper(name, header, line, f"{text.removeprefix('TORCH_API ')};") for line, text in each)


def declared(db: Database, name: str) -> list[Helper]:
    """All declarations of the helper `name`."""
    return [each for each in all_declared(db) if each.name == name]


def all_names(db: Database) -> Iterator[tuple[str, str]]:
    """All helpers: each with its first declaration, or with its number of arguments if no header of the set declares
    it and the release's table does."""
    texts: dict[str, str] = {}
    for helper in all_declared(db):
        texts.setdefault(helper.name, helper.text)
    for name, arity in helpers_of_release(db).items():
        texts.setdefault(name, f"takes {counted(*arity)}")
    yield from texts.items()


def sources_of(db: Database, name: str) -> tuple[str, ...]:
    """The place and text of each declaration of a helper, or its row in the release's table; empty for other names."""
    texts = tuple(f"{each.header}:{each.line} {each.text}" for each in declared(db, name))
    arity = helpers_of_release(db).get(name)
    return texts or ((f"FunctionsManual.h of the release, takes {counted(*arity)}",) if arity else ())


def declared_at_line(db: Database, header: str, line: int) -> list[str]:
    """The helpers that a header of the set declares at a line."""
    return [name for name, each in declarations(db, header).items() if any(at == line for at, _ in each)]


def calls_of(db: Database, name: str) -> list[tuple[str, str]]:
    """The formulas that call a function by its plain name: the entry and the field, in the order of the file."""
    call = Call(CALL, name)
    return [(entry, field) for entry, field, text in _formulas(db) if name in text and call in calls_in(text)]


def method_calls(db: Database) -> Counter[str]:
    """How often the formulas of the set call each method."""
    return Counter(name for _, _, formula in _formulas(db) for name in _METHOD.findall(formula))


def _formulas(db: Database) -> Iterator[tuple[str, str, str]]:
    """Each formula of the set, with its entry and its field."""
    for entry in db.names(entries, "derivatives"):
        defined = definition(db, entry)
        for key, formulas in defined.dispatch if defined is not None else ():
            place = f"dispatch: {key}: " if defined is not None and defined.by_key else ""
            yield from ((entry, place + each.key, each.formula) for each in formulas)
