"""The texts of single spec files that a description changes: by diffs, or as lists in a mapping. Part of the stage
`specs`."""

from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from gradmill.model.layers import role_of
from gradmill.problems.problem import Problem, SpecError
from gradmill.query.database import Database
from gradmill.query.query import unkept
from gradmill.specs.entries import Piece
from gradmill.specs.layers.diff import Line, apply, lines_of
from gradmill.specs.layers.lists import check_lists, value_of, values_of, whole_lists
from gradmill.stages.set import place_of_key, source
from gradmill.stages.spec_files import parse_file, text


@unkept
def changed(db: Database, key: str) -> list[Line] | None:
    """The lines of a file after its diffs, each with its origin; None if it cannot be read."""
    rules, lines = source(db, key), parse_file(db, key, lines_of)
    for number, diff in enumerate(rules.diffs, 1):
        if lines is not None:
            after = parse_file(db, diff, partial(apply, lines, number=number, name=rules.file))
            lines = lines if after is None else after  # it may have none left
    return lines


@unkept
def described_text(db: Database, key: str) -> str | None:
    """The same of a file to which a description gives diffs, or the lists that have its entries."""
    rules = source(db, key)
    if rules.diffs:
        lines = changed(db, key)
        return None if lines is None else "\n".join(line.text for line in lines)
    missing = parse_file(db, key, partial(check_lists, lists=rules.lists))
    for name, hint in missing or ():
        message = (f"the file has no list '{name}'", hint, place_of_key(db, (*rules.at, "list")), name)
        db.report(Problem("set", "", "", *message, warning=True, rule="unmatched-list"))
    return None if missing is None else text(db, key)


def listed_entries(db: Database, key: str, lists: tuple[str, ...]) -> list[tuple[Piece, bytes]]:
    """The entries of some lists of a file as text and as values; none if there is an error, which is reported."""
    if described_text(db, key) is None:
        return []
    return parse_file(db, key, partial(whole_lists, lists=lists, role=role_of(key))) or []


def naming_lists(problem: Problem, whole: str) -> Problem:
    """The problem of a file that is no list: if it is a mapping that has lists of mappings, the hint names these."""
    found: list[str] = []
    with suppress(SpecError):
        for name in values_of(whole):
            value = value_of(whole, name)
            found += [name] if isinstance(value, list) and any(isinstance(each, dict) for each in value) else []
    named = " or ".join(f'list = "{name}"' for name in found)
    return replace(problem, hint=f"name the key that has them in the description: {named}") if found else problem
