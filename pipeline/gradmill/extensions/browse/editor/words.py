"""What each word of a formula is: a gradient, an argument, an output, an operator, a helper, or unknown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct

from gradmill.cpp.bindings import return_names
from gradmill.cpp.expression import Token, tokens_of
from gradmill.cpp.overloads import SYMINT
from gradmill.extensions.browse.editor.hover import WORDS, schema_of
from gradmill.extensions.browse.editor.outline import Body, Formula, formulas
from gradmill.lints.calls import CPP_WORDS
from gradmill.lints.known import CALL, METHOD, METHODS, TYPES
from gradmill.lints.suspicion import GRADIENTS, unknown_names
from gradmill.lints.uses import Use, declared, read_uses
from gradmill.model.schema import Schema
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.reports.helpers import all_helpers
from gradmill.stages.formulas.vocabulary import Vocabulary, called, known
from gradmill.stages.schemas import buckets
from gradmill.stages.set import spec_set

Kind = Literal[
    "gradient", "argument", "output", "operator", "method", "helper", "word", "unknown", "number", "string", "comment"
]
_TEXTS: dict[str, Kind] = {"number": "number", "string": "string", "char": "string", "comment": "comment"}

_MOST = 1 << 14  # entries that a reader keeps


class Word(Struct, frozen=True):
    """A word of a formula. Lines count from the entry's first one, columns from 0."""

    kind: Kind
    name: str  # without scope; "" for numbers and texts
    line: int
    start: int
    end: int


class Names(Struct, frozen=True):
    """The names that the formulas of a set may call. `whole`: whether all are known, so that no other can be called."""

    helpers: frozenset[str]
    functions: frozenset[str]
    methods: frozenset[str]
    whole: bool


def names_of(db: Database) -> Names:
    """The names that formulas may call."""
    vocabulary = Vocabulary(db)
    helpers = frozenset(all_helpers(db))
    methods = METHODS.union(vocabulary.names(METHOD))
    return Names(helpers, helpers.union(vocabulary.names(CALL)), methods, vocabulary.is_whole())


def state_of(db: Database) -> tuple[object, ...]:
    """What `names_of` depends on; cheap to compare."""
    return db.digest(known), *(db.digest(called, bucket) for bucket in db.names(buckets)), spec_set(db).whole


class Reader:
    """Reads the words of entries; keeps those of entries that did not change, for the current names."""

    def __init__(self) -> None:
        self._state: tuple[object, ...] = ()
        self._names: Names | None = None
        self._read: dict[tuple[Role, str], list[Word]] = {}

    def update(self, db: Database) -> None:
        """Brings the names up to date; drops the entries whose words they may change."""
        state = state_of(db)
        if state == self._state:
            return
        names, old = names_of(db), self._names
        if old is None or old.whole != names.whole:
            self._read = {}
        else:
            changed = (names.helpers ^ old.helpers) | (names.functions ^ old.functions) | (names.methods ^ old.methods)
            pattern = re.compile("|".join(map(re.escape, sorted(changed))) or r"\Z.")
            self._read = {at: words for at, words in self._read.items() if not pattern.search(at[1])}
        self._state, self._names = state, names

    def words(self, db: Database, role: Role, body: Body) -> list[Word]:
        """The words of all formulas of an entry, in the order of its text. `update` comes first."""
        assert self._names is not None
        at = (role, body.text)
        if at not in self._read:
            if len(self._read) >= _MOST:
                self._read.clear()
            schema = schema_of(db, body.head)
            read = (words_of(each, schema, self._names, role) for each in formulas(role, body))
            words = list(chain.from_iterable(read))
            self._read[at] = sorted(words, key=lambda word: (word.line, word.start))
        return self._read[at]


def words_of(
    formula: Formula,
    schema: Schema | None,
    names: Names,
    role: Role = "derivatives",
) -> Iterator[Word]:
    """The words of a formula. `schema`: its entry's, None if unknown."""
    tokens = tokens_of(formula.text)
    for token in tokens:
        kind = _TEXTS.get(token.kind)
        if kind is not None:
            yield from _text(formula, token, kind)
    own = declared(formula.text)
    variables = variables_of(schema, forward=formula.is_forward and role == "derivatives") if schema is not None else {}
    uses = read_uses(tokens).uses
    unknown = _unknown(formula, tokens, {*variables, *own}) if schema is not None and names.whole else set()
    for use in uses:
        found = _kind(use, variables, names, own)
        if found is None and use.start in unknown:
            found = "unknown"
        if found is not None:
            line, start = formula.place(use.start)
            yield Word(found, use.name, line, start, start + len(use.name))


def variables_of(schema: Schema, *, forward: bool) -> dict[str, Kind]:
    """The names of values in a formula for this schema, and what they are."""
    outputs = outputs_of(schema)
    kinds: dict[str, Kind] = {argument.name: "argument" for argument in schema.arguments}
    kinds |= dict.fromkeys(outputs, "output")
    kinds |= dict.fromkeys(("options",) if schema.options_index is not None else (), "argument")
    kinds |= dict.fromkeys(("i",) if schema.name.base.startswith("_foreach_") else (), "word")  # the number of a member
    words = [word for word in WORDS if word not in kinds and word not in GRADIENTS]
    kinds |= dict.fromkeys(words, "word")
    if forward:
        values = [*kinds, "original_self"]
        kinds |= dict.fromkeys([f"{name}_p" for name in values], "argument")
        kinds |= dict.fromkeys([f"{name}_t" for name in values], "gradient")
        return kinds
    gradients = [name for name in GRADIENTS if name.startswith("grad") and "_" not in name]
    kinds |= dict.fromkeys((*gradients, *(f"grad_{name}" for name in outputs)), "gradient")
    kinds |= dict.fromkeys([name for name in GRADIENTS if name not in kinds], "word")
    return kinds


def outputs_of(schema: Schema) -> list[str]:
    """The names of the outputs in formulas."""
    named = ["result" if name == "self" else name for name in return_names(schema)]
    numbered = [f"result{place}" for place in range(len(schema.returns))] if len(schema.returns) > 1 else []
    return list(dict.fromkeys((*named, "result", *numbered)))


def _kind(use: Use, variables: dict[str, Kind], names: Names, own: Collection[str]) -> Kind | None:
    """What a name is; None if it is a word of C++, declared in the formula, or not known here."""
    name = use.name
    if not use.called:
        return variables.get(name) if not use.scope else None
    if use.scope == ".":
        return "method" if _has(names.methods, name) else _missing(name, names)
    if use.scope not in ("", "at::") or name in own or (not use.scope and name in variables):
        return None
    if not use.scope and name in names.helpers:
        return "helper"
    return "operator" if _has(names.functions, name) else _missing(name, names)


def _has(known: frozenset[str], name: str) -> bool:
    return name in known or name.removesuffix(SYMINT) in known


def _missing(name: str, names: Names) -> Kind | None:
    """The kind of a name that nothing declares. Types, and words of C++ that a bracket may follow, are none."""
    return "unknown" if names.whole and name not in CPP_WORDS and name not in TYPES and not name[:1].isupper() else None


def _unknown(formula: Formula, tokens: Sequence[Token], known: Collection[str]) -> set[int]:
    """The places of the names of values that nothing declares."""
    first = dict(unknown_names(formula.text, read_uses(tokens), known))
    return {use.start for use in read_uses(tokens).uses if use.name in first and not use.scope and not use.called}


def _text(formula: Formula, token: Token, kind: Kind) -> Iterator[Word]:
    """A number, a text or a comment, line by line."""
    at = token.start
    for piece in token.text.split("\n"):
        line, start = formula.place(at)
        if piece.strip():
            yield Word(kind, "", line, start, start + len(piece))
        at += len(piece) + 1
