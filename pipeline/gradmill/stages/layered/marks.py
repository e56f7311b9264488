"""The operators that `marks` of a description list, for hooks, and for words of selections: `key:fast`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from gradmill.model.layers import SpecSource
from gradmill.problems.problem import LAST, Problem, SpecError, TextError, nearest
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.rules.layers.versions import applies, applying
from gradmill.rules.native.heads import qualified
from gradmill.specs.layers.lists import check_lists
from gradmill.specs.layers.marks import ListedOperator, read_marks
from gradmill.stages.layered.files import of_file, parse_file, text
from gradmill.stages.layered.release_choice import releases_of
from gradmill.stages.schemas import all_heads
from gradmill.stages.set import place_of_key, source, source_keys, version

FALSE = (None, False, "", "False", "false")  # values of keys that count as absent


def has_value(actual: object, wanted: str | None) -> bool:
    """Whether a key has a value, or has it in its list. None for `wanted` is any value that is not false."""
    if wanted is None:
        return actual not in FALSE
    return wanted in map(str, actual) if isinstance(actual, list) else str(actual) == wanted


class Mark(Struct, frozen=True, array_like=True):
    """What is listed of an operator for this release."""

    operator: str
    listed: str
    keys: dict[str, object]  # without those that are false


@query
def marks(db: Database) -> list[Mark]:
    """All items of lists that are valid for the release. Operators that do not exist are reported."""
    names, found = functions(db), []
    for key, item, mark in _valid(db):
        if item.name in names:
            found.append(mark)
            continue
        problem = f"no function is called '{item.name}'"
        hint = nearest(item.name, sorted(names)) or "an overload is a part of the name, as in add.Tensor"
        reported = _at(key, item, SpecError(problem, hint))
        db.report(replace(reported, warning=True, rank=LAST, rule="unmatched-entry"))
    return found


def _valid(db: Database) -> Iterator[tuple[str, ListedOperator, Mark]]:
    """The items that are valid for the release, each with the key of its file. Errors are reported."""
    for key in source_keys(db, "marks"):
        for item in items_of(db, key):
            mark = _mark(db, key, item)
            if mark is not None:
                yield key, item, mark


@query
def items_of(db: Database, key: str) -> list[ListedOperator]:
    """The items of all lists of a file; none, with a report, if it is invalid."""
    of, whole = source(db, key), text(db, key)
    if whole is None or (of.lists and not _has_lists(db, of, whole)):
        return []
    return parse_file(db, key, lambda whole: read_marks(whole, of.lists, of.operator, _name(of))) or []


def _has_lists(db: Database, of: SpecSource, whole: str) -> bool:
    """Whether a file has the lists that the description names. A missing one is reported there."""
    try:
        check_lists(whole, of.lists)
    except TextError:  # of the file, which reading it reports
        return True
    except SpecError as error:
        path = place_of_key(db, (*of.at, "list"))
        db.report(Problem("set", "", "", error.problem, error.hint, path, error.needle))
        return False
    return True


def _name(of: SpecSource) -> str:
    """The name of a file that is a list."""
    return of.file.rpartition("/")[2].partition(".")[0]


def _mark(db: Database, key: str, item: ListedOperator) -> Mark | None:
    """An item as it is for the release; None if it is for others."""
    rules, keys, minor = source(db, key).versions, dict(item.keys), version(db)
    if rules is not None:
        try:
            known = releases_of(db, key, rules.all)
            if item.keys and not applies(item.keys, rules, known, minor):
                return None
            keys |= dict.fromkeys(rules.named, False) | dict.fromkeys(applying(item.keys, rules, known, minor), True)
        except SpecError as error:
            db.report(_at(key, item, error))
            return None
    true = {name: value for name, value in keys.items() if value not in FALSE}
    return Mark(item.name, item.listed, true)


def _at(key: str, item: ListedOperator, error: SpecError) -> Problem:
    return replace(of_file(key, error), op=item.name, line=item.line, column=item.column)


@query
def functions(db: Database) -> dict[str, list[str]]:
    """The functions that a name in a list may mean: PyTorch's of this name, or if there is none, the others."""
    names: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for name, head in all_heads(db):
        names.setdefault(qualified(head), []).append(name)
        others.setdefault(head.name, []).append(name)
    return {**others, **names}


def functions_with_key(db: Database, wanted: str) -> Iterator[str]:
    """The functions that have a key in a list (`fast`), or a key and a value (`kind=fast`)."""
    key, equals, value = wanted.partition("=")
    listed = (mark for mark in marks(db) if key in mark.keys and has_value(mark.keys[key], value if equals else None))
    yield from _of(db, listed)


def _of(db: Database, listed: Iterator[Mark]) -> Iterator[str]:
    names = functions(db)
    for mark in listed:
        yield from names[mark.operator]


def keys(db: Database) -> set[str]:
    """The keys of all items."""
    return {key for mark in marks(db) for key in mark.keys}


@table
def keys_of(db: Database) -> dict[str, dict[str, object]]:
    """The keys of each function that is listed, with their values."""
    names = functions(db)
    found: dict[str, dict[str, object]] = {}
    for mark in marks(db):
        for name in names[mark.operator]:
            found.setdefault(name, {}).update(mark.keys)
    return found


@table
def lists_of(db: Database) -> dict[str, tuple[str, ...]]:
    """The lists that have each function, in their order."""
    names = functions(db)
    found: dict[str, tuple[str, ...]] = {}
    for mark in marks(db):
        for name in names[mark.operator]:
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), mark.listed)))
    return found
