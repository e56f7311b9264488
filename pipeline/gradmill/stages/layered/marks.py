"""The keys and lists of functions, for hooks and for words of selections, `key:fast`: the keys of their entries that
are not PyTorch's, and those of their items in the files that `marks` of a description names."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from gradmill.model.keys import KEYS
from gradmill.model.layers import LAYER_MARK
from gradmill.problems.problem import LAST, Problem, SpecError, TextError, nearest
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.native.heads import qualified
from gradmill.specs.layers.lists import check_lists
from gradmill.specs.layers.marks import ListedOperator, read_marks
from gradmill.stages.layered.files import of_file, parse_file, text
from gradmill.stages.schemas import all_heads, entry_of
from gradmill.stages.set import place_of_key, source, source_keys
from gradmill.stages.specs import entries, raw_entries

_FALSE = (None, False, "", "False", "false")  # values of keys that count as absent


def has_key(keys: dict[str, object], wanted: str) -> bool:
    """Whether keys have one with a value that is not false, `fast`, or with this value, also in a list: `kind=fast`."""
    key, equals, value = wanted.partition("=")
    actual = keys.get(key)
    if not equals:
        return actual not in _FALSE
    return key in keys and value in map(str, actual if isinstance(actual, list) else [actual])


@query
def marks(db: Database) -> list[ListedOperator]:
    """All items of lists. Operators that do not exist are reported, and left out."""
    names, found = functions(db), []
    for key in source_keys(db, "marks"):
        for item in items_of(db, key):
            if item.name in names:
                found.append(item)
                continue
            hint = nearest(item.name, sorted(names)) or "an overload is a part of the name, as in add.Tensor"
            error = of_file(key, SpecError(f"no function is called '{item.name}'", hint))
            place = {"op": item.name, "line": item.line, "column": item.column}
            db.report(replace(error, **place, warning=True, rank=LAST, rule="unmatched-entry"))
    return found


@query
def items_of(db: Database, key: str) -> list[ListedOperator]:
    """The items of all lists of a file; none, with a report, if it is invalid."""
    of, whole = source(db, key), text(db, key)
    try:
        if whole is None:
            return []
        if of.lists:
            check_lists(whole, of.lists)
    except TextError:  # of the file, which reading it reports
        pass
    except SpecError as error:
        path = place_of_key(db, (*of.at, "list"))
        db.report(Problem("set", "", "", error.problem, error.hint, path, error.needle))
        return []
    name = of.file.rpartition("/")[2].partition(".")[0]  # that of a file that is a list
    return parse_file(db, key, lambda whole: read_marks(whole, of.lists, name)) or []


@query
def functions(db: Database) -> dict[str, list[str]]:
    """The functions that a name in a list may mean: PyTorch's of this name, or if there is none, the others."""
    names: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for name, head in all_heads(db):
        names.setdefault(qualified(head), []).append(name)
        others.setdefault(head.name, []).append(name)
    return {**others, **names}


@table
def keys_of(db: Database) -> dict[str, dict[str, object]]:
    """The keys of each function that has some, with their values."""
    own = {}
    for entry, raw in zip(db.names(entries, "native"), raw_entries(db, "native")):
        fields = msgspec.msgpack.decode(raw) if LAYER_MARK in entry else None
        if isinstance(fields, dict):
            own[entry] = {key: value for key, value in fields.items() if key not in KEYS["native"]}
    found = {name: {**keys} for name, _ in all_heads(db) if (keys := own.get(entry_of(name)))}
    names = functions(db)
    for mark in marks(db):
        for name in names[mark.name]:
            found.setdefault(name, {}).update(mark.keys)
    return found


@table
def lists_of(db: Database) -> dict[str, tuple[str, ...]]:
    """The lists that have each function, in their order."""
    names = functions(db)
    found: dict[str, dict[str, None]] = {}
    for mark in marks(db):
        for name in names[mark.name]:
            found.setdefault(name, {})[mark.listed] = None
    return {name: tuple(lists) for name, lists in found.items()}
