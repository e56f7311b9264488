"""Stage `derivatives`: the entries of derivatives.yaml to raw definitions.

Nothing is looked up here: what depends on the schemas is `infos`.
"""

from pipeline.model.autograd import Definition
from pipeline.model.entries import SMALL, grouped
from pipeline.model.layers import layer_of
from pipeline.problems.problem import SpecError, problem_of
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.derivatives.definition import parse_definition
from pipeline.stages.set import release
from pipeline.stages.specs import entries, title, value

Titled = tuple[str, str, str]  # a definition, the schema that it names, the operator's name


@table
def groups(db: Database) -> dict[str, list[str]]:
    """The entries in groups of neighbours, each called after its first."""
    return {group[0]: group for group in grouped(db.names(entries, "derivatives"), SMALL)}


@table
def group_of(db: Database) -> dict[str, str]:
    """The group that an entry is in."""
    return {entry: group for group, found in groups(db).items() for entry in found}


@table
def definitions(db: Database, group: str) -> dict[str, Definition]:
    """What the entries of a group say; those that are wrong are left out. Suspicions are reported too."""
    found = {}
    for entry in groups.item(db, group) or ():
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
    group = group_of.item(db, entry)
    return None if group is None else definitions.item(db, group, entry)


@query
def titles(db: Database, group: str) -> list[Titled]:
    """What the definitions of a group are for."""
    return [(entry, parsed.schema, parsed.name) for entry, parsed in definitions(db, group).items()]


def all_titles(db: Database) -> list[Titled]:
    """What all definitions are for, in the order of the file."""
    return [titled for group in db.names(groups) for titled in titles(db, group)]


@query
def stage(db: Database) -> int:
    """All definitions."""
    return len(all_titles(db))
