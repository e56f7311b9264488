"""Whose each line of a generated file is: a unit's, or the template's.

A file is walked as it is put together: what stands in it is known by whose text it is, not by what the C++ looks like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from pipeline.families.file import File, ended, joined
from pipeline.families.nodes.files import NODES
from pipeline.families.table import FAMILIES
from pipeline.families.template import Hole
from pipeline.query.database import Database
from pipeline.stages.emit import rendered, text
from pipeline.stages.shard import Blocks, files, groups, outline, placed, template_of
from pipeline.stages.units import units

UnitKey = tuple[str, str]  # family, name
NOBODY: UnitKey = ("", "")


class Owner(Struct, frozen=True):
    """Whose a line of a file is; of a line of the template, which line of it."""

    unit: UnitKey
    begin: int
    end: int
    in_template: int = 0  # 0 where it cannot be told, -1 for what stands before the template's text


class Part(Struct, frozen=True):
    """A stretch of a file."""

    unit: UnitKey
    text: str
    literal: bool = False  # whether it is what the template says


def owner_of(db: Database, layout: tuple[str, int], name: str, line: int) -> Owner | None:
    """Whose a line of a generated file is; None where the file ends before."""
    file = files.item(db, *layout, name)
    assert file is not None
    changed = bool(file.whole or file.part or file.edits or file.first or file.libraries)
    before = file.before.count("\n")
    at, of_template, last = 1, 1 - before, ""
    for part in parts_of(db, layout, file):
        begin = at + part.text[: len(part.text) - len(part.text.lstrip())].count("\n")
        end = at + part.text.count("\n")
        if part.unit != NOBODY and begin <= line <= end:
            return Owner(part.unit, begin, end)
        if line < (end if part.unit == NOBODY else begin):
            in_template = of_template + line - at if part.literal else 0
            return Owner(NOBODY, line, line, -1 if line <= before else 0 if changed else in_template)
        of_template += part.text.count("\n") if part.literal else 0
        at, last = end, part.text or last
    return Owner(NOBODY, line, line) if line == at and last and not last.endswith("\n") else None


def parts_of(db: Database, layout: tuple[str, int], file: File) -> Iterator[Part]:
    """A file in parts, in the order in which it is put together."""
    if file.whole:
        whole = "".join(map(str, outline(db, *layout, file.name)))
        yield from _found_in(whole, _pieces_of_graphs(db, file))
        return
    for hole, part in zip(template_of(db, file).parts, outline(db, *layout, file.name)):
        if isinstance(part, Blocks):
            texts = ((unit, ended(each)) for unit, each in _placed(db, layout, file, part.place))
            yield from (Part(unit, (between + each).decode()) for unit, between, each in joined(texts))
        elif isinstance(hole, Hole) and hole.name in file.slots:
            piece, kind = file.piece(hole.name), FAMILIES[file.family]
            pieces = ((unit, kind.piece(rendered(db, file.family, unit), piece)) for unit in file.units)
            yield from _found_in(part, (((file.family, unit), each) for unit, each in pieces))
        else:
            yield Part(NOBODY, part, literal=not isinstance(hole, Hole))


def _placed(db: Database, layout: tuple[str, int], file: File, place: str) -> Iterator[tuple[UnitKey, str]]:
    """The units of a file with what stands at a place of each."""
    for group in db.names(groups, *layout, file.name):
        members = {unit: text(db, file.family, unit) for unit in groups.item(db, *layout, file.name, group) or ()}
        yield from (((file.family, unit), each) for unit, each in placed(db, file.family, members, place))


def _pieces_of_graphs(db: Database, file: File) -> Iterator[tuple[UnitKey, str]]:
    """The functions of a file of graphs, and the formulas that these call: those are of Nodes."""
    nodes = {unit.title: unit.name for unit in units(db, NODES.name)}
    for unit in file.units:
        for piece, each in text(db, file.family, unit).items():
            yield ((NODES.name, nodes[piece]) if piece in nodes else (file.family, unit)), each


def _found_in(whole: str, pieces: Iterable[tuple[UnitKey, str]]) -> Iterator[Part]:
    """The parts of a text that was put together as a whole: found by the pieces, as they stand in it."""
    places = {whole.find(each): (unit, each) for unit, each in pieces if each.strip()}
    end = 0
    for at, (unit, each) in sorted(places.items()):
        if at >= end:
            yield Part(NOBODY, whole[end:at])
            yield Part(unit, each)
            end = at + len(each)
    yield Part(NOBODY, whole[end:])
