"""Stage `derivatives`: the entries of derivatives.yaml to raw definitions.

No schema is used here: `infos` matches definitions and functions.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from gradmill.grammar.buckets import bucket_of, in_buckets
from gradmill.lints import cut
from gradmill.model.autograd import Definition
from gradmill.model.layers import layer_of
from gradmill.problems.problem import SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.stages.set import release
from gradmill.stages.specs import entries, texts, title, value

T = TypeVar("T")
Titled = tuple[str, str, str]  # a definition's entry, the schema that it names, the operator's name


@table
def buckets(db: Database) -> dict[str, list[str]]:
    """The entries by bucket, in the order of the file."""
    return in_buckets(db.names(entries, "derivatives"))


@table
def definitions(db: Database, bucket: str) -> dict[str, Definition]:
    """The definitions of a bucket by entry; the valid parts of those with errors. Reports errors and suspicions."""
    from gradmill.rules.derivatives.definition import parse_definition, valid_part  # only for entries that changed

    parsed = {}
    for entry in buckets.item(db, bucket) or ():
        raw = value(db, "derivatives", entry)
        op, namespaced = title(raw, "name"), bool(layer_of(entry))
        own: Definition | None
        try:
            own, suspicions = parse_definition(raw, release(db), namespaced=namespaced)
        except SpecError as error:
            for each in (error, *error.others):
                db.report(problem_of(each, "derivatives", entry, op))
            own, suspicions = valid_part(raw, error, release(db), namespaced=namespaced)
        if own is not None:
            parsed[entry] = own
        for suspicion in suspicions:
            db.report(problem_of(suspicion, "derivatives", entry, op, warning=True))
    return parsed


def definition(db: Database, entry: str) -> Definition | None:
    """The definition of an entry; None if it is invalid."""
    return definitions.item(db, bucket_of(entry), entry)


@query
def titles(db: Database, bucket: str) -> list[Titled]:
    """The schema and the operator's name of each definition of a bucket."""
    return [(entry, parsed.schema, parsed.name) for entry, parsed in definitions(db, bucket).items()]


def all_titles(db: Database) -> list[Titled]:
    """The schema and the operator's name of each definition, in the order of the file."""
    return in_order(db, (titled for bucket in db.names(buckets) for titled in titles(db, bucket)), lambda each: each[0])


def in_order(db: Database, items: Iterable[T], entry: Callable[[T], str]) -> list[T]:
    """Items in the order of their entries in the file. `entry` returns the entry of an item."""
    place = {name: i for i, name in enumerate(db.names(entries, "derivatives"))}
    return sorted(items, key=lambda each: place[entry(each)])


# ---- formulas that YAML cuts off


def explained(db: Database, entry: str, suspicion: SpecError) -> SpecError:
    """A suspicion about a formula. If its end is suspicious and a comment follows, the comment is reported instead.
    Only then does the result depend on the text of the file."""
    if suspicion.rule not in cut.BY_A_CUT:
        return suspicion
    place = db.names(entries, "derivatives").index(entry)
    return cut.cut_off(texts(db, "derivatives")[place].text, suspicion)


@query
def reading_on(db: Database) -> None:
    """Reports comments after formulas that are complete without them, but read as their continuation."""
    for entry, piece in zip(db.names(entries, "derivatives"), texts(db, "derivatives")):
        own = definition(db, entry) if cut.may_go_on(piece.text) else None
        if own is not None:
            op = own.schema.partition("(")[0]
            for error in cut.reading_on(piece.text, own):
                db.report(problem_of(error, "derivatives", entry, op, warning=True))


@query
def stage(db: Database) -> int:
    """Validates all definitions; returns the number of buckets."""
    return len([db.digest(titles, bucket) for bucket in db.names(buckets)])
