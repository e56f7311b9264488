"""The keys, lists and words of functions. Keys are those of their entries that are not PyTorch's, and of their items in
the files that `marks` of a description names; words of selections name a tag, a layer or a key: `key:exposed`."""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gradmill.model.entries import by_key
from gradmill.model.keys import KEYS
from gradmill.model.layers import LAYER_MARK, entry_operator, layer_of
from gradmill.model.native import FunctionSummary
from gradmill.model.regex import regex
from gradmill.problems.problem import LAST, TextError, nearest
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.layers.entry import operator_of
from gradmill.rules.native.heads import qualified
from gradmill.stages.layered.files import listed_entries
from gradmill.stages.schemas import GENERATED, all_heads, entry_of, function
from gradmill.stages.set import described, source, source_keys
from gradmill.stages.spec_files import of_file, text
from gradmill.stages.specs import entries, keys_of_file, raw_entries, value, whole
from gradmill.stages.tags import tags


class Mark(Struct, frozen=True, array_like=True):
    """An item of a list of a file."""

    listed: str
    keys: dict[str, object]


@table
def marks(db: Database) -> dict[str, list[Mark]]:
    """The items of all lists that name each function. What names no operator is reported, and left out."""
    return by_key(mark for key in source_keys(db, "marks") for mark in marks_in(db, key))


@query
def marks_in(db: Database, key: str) -> list[tuple[str, Mark]]:
    """The functions that the lists of a file name, in their order; none, with a report, if it is invalid."""
    names, of, found = functions(db), source(db, key), []
    own_name = of.file.rpartition("/")[2].partition(".")[0]  # the name of a file that is a list
    for listed in of.lists or (own_name,):
        for piece, raw in listed_entries(db, key, (listed,)) if of.lists else whole(db, key):
            operator, keys = _parts(msgspec.msgpack.decode(raw))
            found += [(name, Mark(listed, keys)) for name in names.get(operator, ())]
            if operator and operator not in names:
                hint = nearest(operator, sorted(names)) or "an overload is a part of the name, as in add.Tensor"
                error = TextError(f"no function is called '{operator}'", hint, piece.line, 1)
                warning = replace(of_file(key, error), op=operator, warning=True, rank=LAST, rule="unmatched-entry")
                db.report(warning)
            elif not operator:
                problem = f"an item of {listed} does not name an operator"
                error = TextError(problem, "write - add.Tensor, or - func: add.Tensor", piece.line, 1)
                db.report(of_file(key, error))
    return found


def _parts(value: object) -> tuple[str, dict[str, object]]:
    """The operator of an item, and its keys: `NAME`, `{func: NAME, …}`, or `NAME: {…}` as lists of stubs have it."""
    keys = value if isinstance(value, dict) else {"func": value}
    if "func" not in keys and len(keys) == 1 and isinstance(own := next(iter(keys.values())), dict):
        keys = {"func": next(iter(keys)), **own}
    return operator_of(keys.get("func")), {key: each for key, each in keys.items() if key != "func"}


@query
def functions(db: Database) -> dict[str, list[str]]:
    """The functions that a name in a list may mean: PyTorch's of this name, or if there is none, the others."""
    names = by_key((qualified(head), name) for name, head in all_heads(db))
    return {**by_key((head.name, name) for name, head in all_heads(db)), **names}


@table
def keys_of(db: Database) -> dict[str, dict[str, object]]:
    """The keys of each function that has some, with their values."""
    own = {}
    for entry, raw in zip(db.names(entries, "native"), raw_entries(db, "native")):
        fields = msgspec.msgpack.decode(raw) if LAYER_MARK in entry else None
        if isinstance(fields, dict):
            own[entry] = {key: value for key, value in fields.items() if key not in KEYS["native"]}
    found = {name: {**keys} for name, _ in all_heads(db) if (keys := own.get(entry_of(name)))}
    for name, own_marks in marks(db).items():
        for mark in own_marks:
            found.setdefault(name, {}).update(mark.keys)
    return found


KINDS = ("tag", "layer", "key")
_OPERATOR = regex(r"^(?:- +| +)func: *['\"]?([\w:.]+)", re.MULTILINE)  # of an entry
_FALSE = (None, False, "", "False", "false")  # values of keys that count as absent


@query
def base_names(db: Database) -> list[str]:
    """The operators in the base's file of functions, before any diff."""
    keys = [key for key in source_keys(db, "native") if key.endswith(":base")]
    return sorted({name for key in keys for name in _OPERATOR.findall(text(db, key) or "")})


@table
def words_of(db: Database) -> dict[str, tuple[str, ...]]:
    """The words that are true of each function, except `defined`; of tags, layers and keys, the kinds that the
    description may have."""
    whole, base = str(described(db)), {*base_names(db)}
    used = [kind for kind in KINDS if f"{kind}:" in whole]
    return {name: tuple(_words(db, name, head, base, used)) for name, head in all_heads(db)}


def _words(db: Database, name: str, head: FunctionSummary, base: set[str], used: list[str]) -> Iterator[str]:
    entry = entry_of(name)
    made_of = {qualified(head), *([entry_operator(entry)] if name.startswith(GENERATED) else [])}
    if made_of.isdisjoint(base):
        yield "own"
    if head.kind == "out":
        yield "out"
    if "tag" in used and (native := function(db, name)) is not None:
        yield from (f"tag:{tag}" for tag in native.tags)
    if "layer" in used:
        yield f"layer:{layer_of(entry)}"
    if "key" in used:
        fields = value(db, "native", entry) if LAYER_MARK in entry else None
        keys = {**(fields if isinstance(fields, dict) else {}), **(keys_of.item(db, name) or {})}
        yield from (f"key:{key}" for key, own in keys.items() if own not in _FALSE)
        for key, own in keys.items():
            yield from (f"key:{key}={each}" for each in (own if isinstance(own, list) else [own]))


def known_names(db: Database, kind: str) -> list[str]:
    """The names that a special word of a kind may have."""
    if kind == "tag":
        return tags(db)
    layers = described(db)
    if kind == "layer":
        return [] if layers is None else [layer.name for layer in layers.description.layers]
    keys = [key for key in source_keys(db, "native") if not key.endswith(":base")]
    own = {name for key in keys for name in keys_of_file(db, key)}
    return sorted(own.union(*(keys_of.item(db, name) or {} for name in db.names(keys_of))))
