"""From a line of a generated file, as a compiler prints its place, back to the entries that the line is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from pipeline.model.regex import regex
from pipeline.model.units import Unit
from pipeline.problems.problem import SpecError, nearest
from pipeline.query.database import Database
from pipeline.query.row import ITEM, digest
from pipeline.reports.explain import Places, called, what_of
from pipeline.reports.origin.owners import NOBODY, Owner, UnitKey, owner_of
from pipeline.reports.trail import Trail, row
from pipeline.stages.emit import text
from pipeline.stages.shard import files, made
from pipeline.stages.units import schema_of, unit

# `file:line`, `file:line:column`, `file(line,column)`, with or without a colon behind it.
_PLACE = regex(r"(?P<file>.+?)(?::(?P<line>\d+)(?::\d+)?|\((?P<other>\d+)(?:,\d+)?\)):?")
_AGAIN = "run doit, compile, and ask for the line that the compiler then names"

Read = Callable[[str], bytes | None]  # a path to the bytes of the file, None where there is none


class Source(Struct, frozen=True):
    """What a line is made from: an entry of a spec file, a function of a graph file, a line of a template."""

    file: str
    line: int  # 0 where it cannot be told
    name: str = ""


class Line(Struct, frozen=True):
    """A line of a generated file. Of one that is no unit's, the unit is empty."""

    file: str
    line: int
    what: str
    made_from: tuple[Source, ...]
    family: str = ""
    unit: str = ""
    schema: str = ""
    begin: int = 0  # the lines that the unit's text takes there, first and last
    end: int = 0


def place_in(word: str) -> tuple[str, int] | None:
    """The file and the line of a place as compilers print it; None for what is no place."""
    found = _PLACE.fullmatch(word)
    return (found["file"], int(found["line"] or found["other"])) if found is not None else None


class Lines:
    """Explains lines of the generated files of one build. `layout` is a layout with its number of shards."""

    def __init__(self, db: Database, layout: tuple[str, int], places: Places, read: Read) -> None:
        self._db = db
        self._layout = layout
        self._places = places
        self._read = read
        self._names = db.names(files, *layout)
        self._trail = Trail(db)

    def explain(self, path: str, line: int) -> Line:
        """What a line is, and what it is made from. A SpecError for a line that nothing can be said of."""
        name = called(path, self._names)
        if not name:
            near = nearest(path.rpartition("/")[2], self._names) or "name a generated file, as manifest.json lists them"
            raise SpecError(f"explain: {path} is none of the files that gradmill generates from this spec set", near)
        self._check(path, name)
        owner = owner_of(self._db, self._layout, name, line) if line else None
        if owner is None:
            raise SpecError(f"explain: {path} has no line {line}", "lines count from 1 to the last one of the file")
        return self._of_template(path, name, line, owner) if owner.unit == NOBODY else self._of_unit(path, line, owner)

    def _check(self, path: str, name: str) -> None:
        """Refuses a file whose lines are not those that would be generated now."""
        own = self._places.path(name)
        data = self._read(path)
        at, data = (path, data) if data is not None else (own, self._read(own))
        if data is None:
            raise SpecError(f"explain: {own} is not there", "run doit first")
        if digest(data) != made(self._db, *self._layout, name).xxh3:
            raise SpecError(f"explain: {at} is not what the spec set makes now: it, or the set, was edited", _AGAIN)

    def _of_template(self, path: str, name: str, line: int, owner: Owner) -> Line:
        file = files.item(self._db, *self._layout, name)
        template = file.template if file is not None else ""
        if not template or owner.in_template < 0:
            return Line(path, line, "a line of no unit, which the layout puts there", ())
        at = self._places.templates.get(template, template)
        return Line(path, line, "a line of the template", (Source(at, owner.in_template),))

    def _of_unit(self, path: str, line: int, owner: Owner) -> Line:
        found = unit(self._db, *owner.unit)
        assert found is not None
        sources = tuple(self._sources(owner.unit, found))
        what = f"{found.title}, {what_of(self._db, owner.unit[0], found)}"
        return Line(
            path, line, what, sources, owner.unit[0], found.title, schema_of(self._db, found), owner.begin, owner.end
        )

    def _sources(self, at: UnitKey, found: Unit) -> Iterable[Source]:
        """What a unit is made from: its function in a graph file, then entries, definitions first."""
        ends = self._trail.made_from(row(text, *at))
        if found.role == "graph":
            from pipeline.stages import graphs  # much code, for those who have graphs

            file = found.name.rpartition(":")[0]
            yield Source(f"graphs/{file}", graphs.lines(self._db, file).get(found.entry, 0), found.title)
        for role in ("derivatives", "native"):
            for end in ends:
                if end[0] == ITEM and end[2] == role:
                    yield Source(*self._trail.place(end, self._places.specs))
