"""The owner of each line of a generated file: a unit, or the template.

The module assembles a file in the order in which it was written. Lines are attributed by the origin of their text, not
by parsing the C++.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from gradmill.families.file import File, ended, joined
from gradmill.families.nodes import NODES
from gradmill.families.table import FAMILIES
from gradmill.families.template import Hole
from gradmill.query.database import Database
from gradmill.reports.explain import UnitKey
from gradmill.stages.arrangement import file_of, groups, units_of
from gradmill.stages.emit import rendered, text
from gradmill.stages.shard import SORTED, Blocks, ordered, outline, placed
from gradmill.stages.templates import is_rewritten, template_of
from gradmill.stages.units import units

NO_UNIT: UnitKey = ("", "")  # stands for the template and the layout


class Owner(Struct, frozen=True):
    """The owner of a line, and the lines of its text in the file."""

    unit: UnitKey
    begin: int
    end: int
    in_template: int = 0  # the line in the template: 0 if unknown, -1 before the template's text


class Part(Struct, frozen=True):
    """A piece of a file's text, and its owner."""

    unit: UnitKey
    text: str
    literal: bool = False  # whether the text is the template's own


def owner_of(db: Database, layout: tuple[str, int], name: str, line: int) -> Owner | None:
    """The owner of line `line` of the generated file `name`; None if the file is shorter."""
    file = file_of(db, *layout, name)
    assert file is not None
    changed = file.whole or is_rewritten(db, file)
    before = file.before.count("\n")
    at, of_template, last = 1, 1 - before, ""
    for part in parts_of(db, layout, file):
        begin = at + part.text[: len(part.text) - len(part.text.lstrip())].count("\n")
        end = at + part.text.count("\n")
        if part.unit != NO_UNIT and begin <= line <= end:
            return Owner(part.unit, begin, end)
        if line < (end if part.unit == NO_UNIT else begin):
            in_template = of_template + line - at if part.literal else 0
            return Owner(NO_UNIT, line, line, -1 if line <= before else 0 if changed else in_template)
        of_template += part.text.count("\n") if part.literal else 0
        at, last = end, part.text or last
    return Owner(NO_UNIT, line, line) if line == at and last and not last.endswith("\n") else None


def parts_of(db: Database, layout: tuple[str, int], file: File) -> Iterator[Part]:
    """The parts of a file, in the file's order."""
    if file.whole:
        whole = "".join(map(str, outline(db, *layout, file.name)))
        yield from _split_by_pieces(whole, _pieces_of_whole(db, file))
        return
    within = units_of(db, *layout, file.name)
    for hole, part in zip(template_of(db, file).parts, outline(db, *layout, file.name)):
        if isinstance(part, Blocks) and part.form == SORTED:
            whole = ordered(db, *layout, file.name, file.family, part.key)
            listed = ((unit, text(db, file.family, unit)) for unit in within)
            each_of = [(unit, own.get(piece, "")) for unit, own in listed for piece in part.piece.split(",")]
            yield from _split_by_pieces(whole, (((file.family, unit), each) for unit, each in each_of))
        elif isinstance(part, Blocks):
            texts = ((unit, ended(each)) for unit, each in _placed(db, layout, file, part.key))
            yield from (Part(unit, (between + each).decode()) for unit, between, each in joined(texts))
        elif isinstance(hole, Hole) and hole.name in file.pieces:
            piece, kind = file.pieces[hole.name].name, FAMILIES[file.family]
            listed = ((unit, rendered(db, file.family, unit)) for unit in within)
            pieces = ((unit, each) for unit, own in listed for each in kind.items(own, piece))
            yield from _split_by_pieces(part, (((file.family, unit), each) for unit, each in pieces))
        else:
            yield Part(NO_UNIT, part, literal=not isinstance(hole, Hole))


def _placed(db: Database, layout: tuple[str, int], file: File, place: str) -> Iterator[tuple[UnitKey, str]]:
    """The units of a file, each with its text at one place of the template."""
    for group in db.names(groups, *layout, file.name):
        members = {unit: text(db, file.family, unit) for unit in groups.item(db, *layout, file.name, group) or ()}
        yield from (((file.family, unit), each) for unit, each in placed(db, file.family, members, place))


def _pieces_of_whole(db: Database, file: File) -> Iterator[tuple[UnitKey, str]]:
    """The units of a file that is made as a whole, and the formulas that they call, which belong to Nodes."""
    nodes = {unit.title: unit.name for unit in units(db, NODES.name)}
    for unit in file.units:
        for piece, each in text(db, file.family, unit).items():
            yield ((NODES.name, nodes[piece]) if piece in nodes else (file.family, unit)), each


def _split_by_pieces(whole: str, pieces: Iterable[tuple[UnitKey, str]]) -> Iterator[Part]:
    """Splits a text that was rendered as a whole: searches it for each unit's piece."""
    places = {whole.find(each): (unit, each) for unit, each in pieces if each.strip()}
    end = 0
    for at, (unit, each) in sorted(places.items()):
        if at >= end:
            yield Part(NO_UNIT, whole[end:at])
            yield Part(unit, each)
            end = at + len(each)
    yield Part(NO_UNIT, whole[end:])
