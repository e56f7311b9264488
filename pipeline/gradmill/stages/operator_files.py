"""The files that each operator has, such as `ops/add_ops.h`: thousands of small ones, which share a row per bucket.

Part of the stage `shard`. In the table of files they have one entry, with `{operator}` in its name.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from gradmill.families.file import ANY, File, FileDigest, Pieces, digest_of_file, operator_in
from gradmill.families.table import FAMILIES
from gradmill.families.template import Template, Value
from gradmill.grammar.buckets import bucket_of
from gradmill.model.entries import by_key
from gradmill.problems.problem import Problem, SpecError
from gradmill.query.database import Database
from gradmill.query.query import Parts, query, unkept
from gradmill.stages.arrangement import files
from gradmill.stages.emit import rendered, text
from gradmill.stages.schemas import buckets, entry_of
from gradmill.stages.templates import formatted, template_of
from gradmill.stages.units import units_in


class Home(NamedTuple):
    """Where a file belongs: its entry in the table of files; if each operator has one, the bucket of its operator, and
    the digest of its bytes."""

    entry: str
    bucket: str = ""
    digest: bytes = b""


def entries_of_each(db: Database, layout: str, shards: int) -> list[str]:
    """The names of their entries in the table of files. These have no units: files of one bucket do not depend on
    operators of others."""
    return [name for name in db.names(files, layout, shards) if ANY in name]


@query
def digests_of_each(db: Database, layout: str, shards: int, name: str, bucket: str) -> dict[str, FileDigest]:
    """The files of a bucket of operators by name, with their sizes and digests. `name`: of their entry."""
    contents = contents_of_each(db, layout, shards, name, bucket)
    return {each: digest_of_file(Parts([data])) for each, data in contents.items()}


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
    operators = by_key((unit.shard_key, unit.name) for unit in units_in(db, file.family, bucket))
    listed = [file.of(operator, members) for operator, members in operators.items()]
    filled = {each.name: _filled(db, each, template) for each in listed}
    return {each: formatted(db, own).encode() for each, own in filled.items() if own is not None}


def _filled(db: Database, file: File, template: Template) -> str | None:
    """The text of one operator's file; None if it has none."""
    kind, values = FAMILIES[file.family], dict[str, Value](generated_comment=file.comment)
    for hole, content in file.holes.items():
        if isinstance(content, (str, list)):
            values[hole] = content
        elif isinstance(content, Pieces):
            of = text if template.is_block(hole) else rendered
            pieces = [of(db, file.family, unit) for unit in file.units]
            if content.needed and not any(own.get(content.name) for own in pieces):
                return None
            values[hole] = [each for own in pieces for each in kind.items(own, content.name)]
    return template.fill(values)


@query
def homes(db: Database, layout: str, shards: int, name: str) -> dict[str, Home]:
    """The files of all operators, by name. `name`: of their entry."""
    found: dict[str, Home] = {}
    for bucket in db.names(buckets):
        made = digests_of_each(db, layout, shards, name, bucket)
        found.update((each, Home(name, bucket, own.xxh3)) for each, own in made.items())
    return found


@query
def distinct(db: Database, layout: str, shards: int) -> bool:
    """Reports operators with a file of one name: `ops/add_native.h` of `add` and of `add_native`."""
    from gradmill.stages.operators import operators  # few runs have such files

    entry_of_file: dict[str, str] = {}
    for entry in entries_of_each(db, layout, shards):
        for name in homes(db, layout, shards, entry):
            other = entry_of_file.setdefault(name, entry)
            if other != entry:
                shorter, longer = sorted((operator_in(name, other), operator_in(name, entry)), key=len)
                first = operators.item(db, bucket_of(longer), longer)
                assert first is not None
                problem = f"'{shorter}' and '{longer}' would both have the file '{name}'"
                db.report(Problem("native", entry_of(first.functions[0]), longer, problem, "rename one of them"))
    return True


def digest_of_all(db: Database, layout: str, shards: int, name: str) -> FileDigest:
    """The size and digests of all files of an entry, as of their names and digests."""
    every = [digests_of_each(db, layout, shards, name, bucket) for bucket in db.names(buckets)]
    listed = b"".join(each.encode() + made.sha256 for files in every for each, made in sorted(files.items()))
    size = sum(made.size for files in every for made in files.values())
    return replace(digest_of_file(Parts([listed])), size=size)


def written_files(db: Database, layout: str, shards: int) -> dict[str, Home]:
    """All generated files by name, those that each operator has too. Needs the text of these."""
    found: dict[str, Home] = {}
    for name in db.names(files, layout, shards):
        found.update(homes(db, layout, shards, name) if ANY in name else {name: Home(name)})
    return found
