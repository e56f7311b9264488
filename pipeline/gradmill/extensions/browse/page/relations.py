"""Which functions share a page, and how functions relate to each other. Reads heads and lookups, but no formulas."""

from __future__ import annotations

from collections.abc import Iterator

from gradmill.extensions.browse.page.model import Placed, Ref, Relations
from gradmill.extensions.browse.page.names import page_of, ref_to, title_of
from gradmill.families.file import ANY, File
from gradmill.families.table import FAMILIES
from gradmill.grammar.buckets import bucket_of
from gradmill.model.entries import by_key
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.reports.served import served
from gradmill.stages import foreach, infos, specs
from gradmill.stages.arrangement import files, units_of
from gradmill.stages.layered.participation import all_participants
from gradmill.stages.operator_files import digests_of_each
from gradmill.stages.requested import families
from gradmill.stages.schemas import all_heads, buckets, views
from gradmill.stages.set import template_label
from gradmill.stages.units import units


@table
def members(db: Database) -> dict[str, list[str]]:
    """The functions of each page, in the order of their file; generated functions last."""
    participants = {name for name, _ in all_participants(db)}
    by_page = by_key((page_of(head), name) for name, head in all_heads(db) if name in participants)
    return dict(sorted(by_page.items(), key=lambda item: (item[0].strip("_"), item[0])))


@table
def relations(db: Database) -> dict[str, Relations]:
    """The relations of each function, by identity."""
    heads = dict(all_heads(db))
    serves: dict[str, dict[str, list[str]]] = {}
    for (source, key), others in served(db).items():
        serves.setdefault(source, {})[key] = others
    references = {each.function: each.reference for each in foreach.all_references(db)}
    followers = by_key((reference, name) for name, reference in references.items())
    copies = dict(copy for bucket in db.names(buckets) for copy in views(db, bucket).copies)
    copied = {copy: view for view, copy in copies.items()}
    return {
        name: Relations(
            page_of(head),
            title_of(head),
            serves.get(name, {}),
            tuple(followers.get(name, ())),
            references.get(name, ""),
            (copies[name],) if name in copies else (),
            copied.get(name, ""),
        )
        for name, head in heads.items()
    }


@table
def refs(db: Database) -> dict[str, Ref]:
    """The link to each function, by identity."""
    return {name: ref_to(head) for name, head in all_heads(db)}


def ref(db: Database, name: str) -> Ref:
    """The link to a function."""
    link = refs.item(db, name)
    assert link is not None
    return link


@query
def shown_families(db: Database) -> list[str]:
    """The generated families with units that belong to functions."""
    return [family for family in families(db) if not FAMILIES[family].row.source]


@table
def placed(db: Database, layout: str, shards: int, family: str) -> dict[str, list[Placed]]:
    """The files that contain pieces of each unit of a family, with the pieces."""
    by_unit: dict[str, list[Placed]] = {}
    for file in files(db, layout, shards).values():
        if file.family == family and not file.whole:
            here = tuple(_pieces(db, file))
            for unit, name in _named(db, layout, shards, file) if here else ():
                by_unit.setdefault(unit, []).append(Placed(name, here))
    return by_unit


def _named(db: Database, layout: str, shards: int, file: File) -> Iterator[tuple[str, str]]:
    """The units of a file, each with the name of its file if each operator has one."""
    if not file.is_of_each:
        yield from ((unit, file.name) for unit in units_of(db, layout, shards, file.name))
        return
    for unit in units(db, file.family):
        name, bucket = file.name.replace(ANY, unit.shard_key), bucket_of(unit.shard_key)
        if name in digests_of_each(db, layout, shards, file.name, bucket):
            yield unit.name, name


def _pieces(db: Database, file: File) -> Iterator[str]:
    """The pieces that a file contains: those with a hole in its template."""
    data = db.input(template_label(file.template)) if file.template else None
    text = "\n".join([(data or b"").decode(errors="replace"), file.before, file.texts_with_holes])
    for hole, content in file.pieces.items():
        if hole in text:
            yield content.name


@table
def written(db: Database, role: Role) -> dict[str, tuple[str, str]]:
    """The file and the text of each entry."""
    named = specs.files_of(db, role, db.names(specs.entries, role))
    pieces = zip(db.names(specs.entries, role), specs.texts(db, role))
    return {entry: (named[entry], piece.own) for entry, piece in pieces}


@table
def keys_of(db: Database) -> dict[str, list[str]]:
    """The dispatch keys under which each function has its own derivatives."""
    rows = infos.rows(db) | foreach.rows(db)
    return by_key((row.function, row.dispatch_key) for row in rows.values())
