"""The tags that functions may have: the entries of tags.yaml. Part of the stage `schemas`.

torchgen: `gen.parse_tags_yaml`.
"""

from collections.abc import Mapping

from gradmill.problems.problem import SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages.specs import entries, value


@query
def tags(db: Database) -> list[str]:
    """The tags that tags.yaml declares, sorted. Reports tags without a description."""
    names = set()
    for entry in db.names(entries, "tags"):
        declared = value(db, "tags", entry)
        name = declared.get("tag") if isinstance(declared, dict) else None
        try:
            names.add(_tag_name(declared))
        except SpecError as error:
            db.report(problem_of(error, "tags", entry, str(name or "")))
            if isinstance(name, str):
                names.add(name)  # it is known, although not described
            continue
        if not (isinstance(name, str) and name.isidentifier()):
            db.report(problem_of(_odd_name(name), "tags", entry, str(name or ""), warning=True))
    return sorted(names)


@query
def odd_tag(db: Database) -> tuple[str, str] | None:
    """The entry and the name of the first tag that is not text, if others are: such names have no order in Python."""
    names = {entry: declared["tag"] for entry, declared in _declared(db) if "tag" in declared}
    odd = [(entry, "null" if name is None else str(name)) for entry, name in names.items() if not isinstance(name, str)]
    return odd[0] if 0 < len(odd) < len(names) else None


def _declared(db: Database) -> list[tuple[str, Mapping[str, object]]]:
    pairs = [(entry, value(db, "tags", entry)) for entry in db.names(entries, "tags")]
    return [(entry, declared) for entry, declared in pairs if isinstance(declared, dict)]


def _odd_name(name: object) -> SpecError:
    """The warning for a tag that upstream accepts, although it is not an identifier in C++ and Python."""
    if name is None:
        problem = "the tag has no name: torchgen reads 'None'"
        return SpecError(problem, "write tag: name", field=("tag",), at_key=True, rule="tag-name")
    problem = f"'{name}' is not a valid C++ identifier"
    return SpecError(problem, "write letters, digits and underscores", field=("tag",), rule="tag-name")


def _tag_name(declared: object) -> str:
    if not isinstance(declared, dict):
        raise SpecError("not a mapping", "write - tag: name")
    if "tag" not in declared:
        from gradmill.rules.derivatives.definition import no_such_key

        raise no_such_key(declared, "tag", "the entry declares no tag", "write tag: name")
    if not isinstance(declared["tag"], (str, int, float)) and declared["tag"] is not None:
        raise SpecError(f"the tag is not a name: {declared['tag']!r}", field=("tag",))
    if declared.get("desc", "") == "":
        raise SpecError(f"tag '{declared['tag']}' has no description", "add desc: …", field=("tag",))
    return str(declared["tag"])
