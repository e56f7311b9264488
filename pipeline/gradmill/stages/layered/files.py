"""The texts of single spec files that a description changes: by diffs, or as lists in a mapping. Part of the stage
`specs`."""

from contextlib import suppress
from functools import partial

from gradmill.problems.problem import Problem, SpecError
from gradmill.query.database import Database
from gradmill.query.query import unkept
from gradmill.specs.layers.diff import Line, apply, lines_of
from gradmill.specs.layers.lists import check_lists, value_of, values_of
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


def lists_in(whole: str) -> list[str]:
    """The keys of a file that is a mapping which have lists of mappings."""
    found: list[str] = []
    with suppress(SpecError):
        for name in values_of(whole):
            value = value_of(whole, name)
            found += [name] if isinstance(value, list) and any(isinstance(each, dict) for each in value) else []
    return found
