"""The files that each operator has, such as `ops/add_ops.h`: thousands of small ones, which share a row per bucket.

Part of the stage `shard`. In the table of files they have one entry, with `{operator}` in its name.
"""

from __future__ import annotations

import hashlib

from pipeline.families.file import ANY, File, Made
from pipeline.families.table import FAMILIES
from pipeline.families.template import Template, Value
from pipeline.model.entries import by_key
from pipeline.problems.problem import SpecError
from pipeline.query.database import Database
from pipeline.query.memo import digest
from pipeline.query.query import query, unkept
from pipeline.stages.arrangement import files
from pipeline.stages.emit import rendered, text
from pipeline.stages.schemas import buckets
from pipeline.stages.templates import formatted, is_block, template_of
from pipeline.stages.units import units_in


@query
def made_of_each(db: Database, layout: str, shards: int, name: str, bucket: str) -> dict[str, Made]:
    """The files of a bucket of operators by name, with their sizes and digests. `name`: of their entry."""
    made = {}
    for each, data in contents_of_each(db, layout, shards, name, bucket).items():
        made[each] = Made(len(data), digest(data), hashlib.sha256(data).digest())
    return made


@unkept
def contents_of_each(db: Database, layout: str, shards: int, name: str, bucket: str) -> dict[str, bytes]:
    """The bytes of these files. None if the template has an error, which `outline` reports."""
    file = files.item(db, layout, shards, name)
    if file is None:
        return {}
    try:
        template = template_of(db, file)
    except SpecError:
        return {}
    operators = by_key((unit.operator, unit.name) for unit in units_in(db, file.family, bucket))
    filled = ((operator, _filled(db, file, template, members)) for operator, members in operators.items())
    return {name.replace(ANY, operator): formatted(db, own).encode() for operator, own in filled if own is not None}


def _filled(db: Database, file: File, template: Template, members: list[str]) -> str | None:
    """The text of one operator's file; None if it has none."""
    kind, values = FAMILIES[file.family], dict[str, Value](generated_comment=file.comment, **file.constants)
    if file.optional and not any(text(db, file.family, unit).get(file.optional) for unit in members):
        return None
    for hole, piece in file.slots.items():
        of = text if is_block(template, hole) else rendered
        values[hole] = [own for unit in members if (own := kind.piece(of(db, file.family, unit), piece))]
    return template.fill(values)


def operators_of(db: Database, layout: str, shards: int, name: str) -> dict[str, str]:
    """The names of all files of an entry, each with its bucket."""
    listed = ((each, bucket) for bucket in db.names(buckets) for each in made_of_each(db, layout, shards, name, bucket))
    return dict(listed)
