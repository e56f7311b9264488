"""Stage `derivatives`: the entries of derivatives.yaml to raw definitions.

Nothing is looked up here: what depends on the schemas is `infos`.
"""

from pipeline.model.autograd import Definition
from pipeline.model.entries import SMALL, grouped
from pipeline.problems.problem import SpecError, problem_of
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.derivatives.definition import parse_definition
from pipeline.stages.set import release
from pipeline.stages.specs import entries, title, value

Titled = tuple[str, str, str]  # a definition, the schema that it names, the operator's name


@query
def definition(db: Database, entry: str) -> Definition | None:
    """What an entry says, None where it is wrong; suspicions are reported too."""
    found = value(db, "derivatives", entry)
    op = title(found, "name")
    try:
        parsed, suspicions = parse_definition(found, release(db))
    except SpecError as error:
        db.report(problem_of(error, "derivatives", entry, op))
        return None
    for suspicion in suspicions:
        db.report(problem_of(suspicion, "derivatives", entry, op, warning=True))
    return parsed


@table
def groups(db: Database) -> dict[str, list[str]]:
    """The entries in groups of neighbours, each called after its first."""
    return {group[0]: group for group in grouped(db.names(entries, "derivatives"), SMALL)}


@query
def titles(db: Database, group: str) -> list[Titled]:
    """What the definitions of a group are for; entries that are wrong are left out."""
    found = ((entry, definition(db, entry)) for entry in groups.item(db, group) or ())
    return [(entry, parsed.schema, parsed.name) for entry, parsed in found if parsed is not None]


def all_titles(db: Database) -> list[Titled]:
    """What all definitions are for, in the order of the file."""
    return [titled for group in db.names(groups) for titled in titles(db, group)]


@query
def stage(db: Database) -> int:
    """All definitions."""
    return len(all_titles(db))
