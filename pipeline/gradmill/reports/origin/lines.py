"""Maps a line of a generated file, as a compiler prints it, to the spec entries that it is generated from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from gradmill.io.files import read_file
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.memo import ITEM, digest
from gradmill.reports.explain import Explainer, UnitKey, called, what_of
from gradmill.reports.origin.owners import NO_UNIT, Owner, owner_of
from gradmill.reports.trail import row
from gradmill.stages.added import file_of, lines
from gradmill.stages.arrangement import file_of as generated_file
from gradmill.stages.emit import text
from gradmill.stages.operator_files import written_files
from gradmill.stages.shard import file_digest
from gradmill.stages.units import schema_of, unit

# `file:line`, `file:line:column`, `file(line,column)`, with or without a colon after it.
_PLACE = regex(r"(?P<file>.+?)(?::(?P<line>\d+)(?::\d+)?|\((?P<other>\d+)(?:,\d+)?\)):?")
_NAME = "name a YAML file, the description, or a generated file, as manifest.json lists them"
_AGAIN = "run gradmill, compile, and ask for the line that the compiler then reports"


class Source(Struct, frozen=True):
    """The origin of a line: an entry of a spec file, a function in a file of an extension, or a line of a template."""

    file: str
    line: int  # 0 if unknown
    name: str = ""


class Line(Struct, frozen=True):
    """A line of a generated file, and its origin. The fields of the unit are empty if no unit prints the line."""

    file: str
    line: int
    what: str
    made_from: tuple[Source, ...]
    family: str = ""
    unit: str = ""
    schema: str = ""
    begin: int = 0  # first and last line of the unit's text in the file
    end: int = 0


def place_in(word: str) -> tuple[str, int] | None:
    """The file and line in a place as compilers print it; None if `word` is not a place."""
    match = _PLACE.fullmatch(word)
    return (match["file"], int(match["line"] or match["other"])) if match is not None else None


def explain_line(of: Explainer, path: str, line: int, also: Sequence[str] = ()) -> Line:
    """Explains a line of the generated file at `path`. `also`: the names of other files that a line may be of, for a
    hint. A SpecError if it is no generated file, out of date, or too short."""
    names = [*written_files(of.db, *of.layout)]
    name = called(path, names)
    if not name:
        near = nearest(path.rpartition("/")[2], (*names, *also)) or _NAME
        raise SpecError(
            f"explain: {path} is not a file of this spec set, and none that gradmill generates from it", near
        )
    _check(of, path, name)
    owner = owner_of(of.db, of.layout, name, line) if line else None
    if owner is None:
        raise SpecError(f"explain: {path} has no line {line}", "lines are numbered from 1 to the last")
    return _of_template(of, path, name, line, owner) if owner.unit == NO_UNIT else _of_unit(of, path, line, owner)


def _check(of: Explainer, path: str, name: str) -> None:
    """Raises a SpecError if the file is missing or not up to date: its lines would mean nothing."""
    own = of.paths.path(name)
    data = read_file(path)
    at, data = (path, data) if data is not None else (own, read_file(own))
    if data is None:
        raise SpecError(f"explain: {own} is missing", "run gradmill first")
    if digest(data) != file_digest(of.db, *of.layout, name).xxh3:
        raise SpecError(f"explain: {at} is out of date: it, or the spec set, was edited", _AGAIN)


def _of_template(of: Explainer, path: str, name: str, line: int, owner: Owner) -> Line:
    file = generated_file(of.db, *of.layout, name)
    template = file.template if file is not None else ""
    if not template or owner.in_template < 0:
        return Line(path, line, "a line of no unit, added by the layout", ())
    at = of.paths.templates.get(template, template)
    return Line(path, line, "a line of the template", (Source(at, owner.in_template),))


def _of_unit(of: Explainer, path: str, line: int, owner: Owner) -> Line:
    family = owner.unit[0]
    printed = unit(of.db, *owner.unit)
    assert printed is not None
    return Line(
        file=path,
        line=line,
        what=f"{printed.title}, {what_of(of.db, family, printed)}",
        made_from=tuple(_sources(of, owner.unit, printed)),
        family=family,
        unit=printed.title,
        schema=schema_of(of.db, family, printed),
        begin=owner.begin,
        end=owner.end,
    )


def _sources(of: Explainer, at: UnitKey, printed: Unit) -> Iterable[Source]:
    """The sources of a unit: its function in a file of an extension, then its entries, definitions first."""
    ends = of.trail.made_from(row(text, *at))
    if file := file_of(*at):
        yield Source(file, lines(of.db, file).get(printed.entry, 0), printed.title)
    for role in ("derivatives", "native"):
        for end in ends:
            if end[0] == ITEM and end[2] == role:
                yield Source(*of.trail.place(end, of.paths.specs))
