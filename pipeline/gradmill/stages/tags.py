"""The tags that functions may have: the entries of tags.yaml. Part of the stage `schemas`.

torchgen: `gen.parse_tags_yaml`.
"""

from gradmill.problems.problem import SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.rules.native.tags import odd_name, tag_name
from gradmill.stages.specs import entries, value


@query
def tags(db: Database) -> list[str]:
    """The tags that tags.yaml declares, sorted. Reports tags without a description."""
    names = set()
    for entry in db.names(entries, "tags"):
        declared = value(db, "tags", entry)
        name = declared.get("tag") if isinstance(declared, dict) else None
        try:
            names.add(tag_name(declared))
        except SpecError as error:
            db.report(problem_of(error, "tags", entry, str(name or "")))
            if isinstance(name, str):
                names.add(name)  # it is known, although not described
            continue
        odd = odd_name(name)
        if odd is not None:
            db.report(problem_of(odd, "tags", entry, str(name or ""), warning=True))
    return sorted(names)


@query
def odd_tag(db: Database) -> tuple[str, str] | None:
    """The entry and the name of the first tag that is not text, if others are: such names have no order in Python."""
    declared = {entry: value(db, "tags", entry) for entry in db.names(entries, "tags")}
    names = {entry: own["tag"] for entry, own in declared.items() if isinstance(own, dict) and "tag" in own}
    odd = [(entry, "null" if name is None else str(name)) for entry, name in names.items() if not isinstance(name, str)]
    return odd[0] if 0 < len(odd) < len(names) else None
