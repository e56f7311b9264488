"""Stage `derivatives`: the entries of derivatives.yaml to raw definitions.

Nothing is looked up here: what depends on the schemas is `infos`.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from pipeline.grammar.buckets import bucket_of, in_buckets
from pipeline.model.autograd import Definition
from pipeline.model.layers import layer_of
from pipeline.problems.problem import SpecError, problem_of
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.derivatives.definition import parse_definition
from pipeline.stages.set import release
from pipeline.stages.specs import entries, title, value

T = TypeVar("T")
Titled = tuple[str, str, str]  # a definition, the schema that it names, the operator's name


@table
def buckets(db: Database) -> dict[str, list[str]]:
    """The entries by bucket, in the order of the file."""
    return in_buckets(db.names(entries, "derivatives"))


@table
def definitions(db: Database, bucket: str) -> dict[str, Definition]:
    """What the entries of a bucket say; those that are wrong are left out. Suspicions are reported too."""
    found = {}
    for entry in buckets.item(db, bucket) or ():
        given = value(db, "derivatives", entry)
        op = title(given, "name")
        try:
            found[entry], suspicions = parse_definition(given, release(db), namespaced=bool(layer_of(entry)))
        except SpecError as error:
            db.report(problem_of(error, "derivatives", entry, op))
            continue
        for suspicion in suspicions:
            db.report(problem_of(suspicion, "derivatives", entry, op, warning=True))
    return found


def definition(db: Database, entry: str) -> Definition | None:
    """What an entry says, None where it is wrong."""
    return definitions.item(db, bucket_of(entry), entry)


@query
def titles(db: Database, bucket: str) -> list[Titled]:
    """What the definitions of a bucket are for."""
    return [(entry, parsed.schema, parsed.name) for entry, parsed in definitions(db, bucket).items()]


def all_titles(db: Database) -> list[Titled]:
    """What all definitions are for, in the order of the file."""
    return in_order(db, (titled for bucket in db.names(buckets) for titled in titles(db, bucket)), lambda each: each[0])


def in_order(db: Database, found: Iterable[T], entry: Callable[[T], str]) -> list[T]:
    """Things in the order in which their entries stand in the file, by what says of one thing which that is."""
    place = {name: i for i, name in enumerate(db.names(entries, "derivatives"))}
    return sorted(found, key=lambda each: place[entry(each)])


@query
def stage(db: Database) -> int:
    """All definitions."""
    return len([db.digest(titles, bucket) for bucket in db.names(buckets)])
