"""The units that a run has to print, in an order in which the blocks of files follow from them at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pipeline.front.run import contents
from pipeline.front.run.build import Build
from pipeline.front.run.contents import At

if TYPE_CHECKING:
    from pipeline.query.query import Query

Key = tuple[Any, ...]  # of a block of a file
Named = tuple[At, str]  # a unit, and the operator that it is of

_FEW = 10  # a tenth of the units: to look at each of so many takes as long as to look at all


def named_units(build: Build) -> dict[str, Named]:
    """All units, by what people call them."""
    return {name: ((family, unit.name), unit.op) for name, (family, unit) in contents.units(build.db).items()}


class StaleUnits:
    """The units with dirty texts, and the blocks that contain them."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._blocks: dict[At, list[Key]] = {}  # by the unit that each ends with

    def find(self) -> dict[str, Named]:
        """The units, by what people call them: those of a block next to each other."""
        from pipeline.stages.emit import text

        doubted: dict[At, None] = {}
        for key, members in (found for name in self._build.file_names() for found in self._doubted(name)):
            if key and (members[-1] in self._blocks or not any(unit in doubted for unit in members)):
                self._blocks.setdefault(members[-1], []).append(key)
            doubted.update(dict.fromkeys(members))
        return self._called([at for at in doubted if not self._build.db.is_valid(text, *at)])

    def _called(self, wanted: list[At]) -> dict[str, Named]:
        """Units, by what people call them."""
        from pipeline.stages.units import unit, unit_titles

        known = unit_titles(self._build.db)
        if len(wanted) * _FEW < known.count:  # these are looked up one by one
            found = [(at, unit(self._build.db, *at)) for at in wanted]
            named = {each.title: (at, each.op) for at, each in found if each is not None}
            if len(named) == len(wanted) and named.keys().isdisjoint(known.repeated):
                return named
        called = {at: (name, op) for name, (at, op) in named_units(self._build).items()}
        return {called[at][0]: (at, called[at][1]) for at in wanted}

    def bring(self, family: str, unit: str) -> None:
        """Brings a text up to date; the blocks that end with it too, as long as their texts are in memory."""
        from pipeline.stages.emit import text
        from pipeline.stages.shard import block

        self._build.db.digest(text, family, unit)
        for key in self._blocks.get((family, unit), ()):
            self._build.db.digest(block, *key)

    def _doubted(self, name: str) -> Iterator[tuple[Key, list[At]]]:
        """The blocks of a file that may have changed, and the units of each whose texts may have."""
        from pipeline.stages.emit import text
        from pipeline.stages.shard import block, blocks, files, groups, parts

        db, at = self._build.db, (*self._build.layout, name)
        if db.is_clean(parts, *at):
            return
        keys = self._in_doubt(block, parts, at)
        if keys is None:
            file = files.item(db, *at)
            if file is not None and file.whole:
                yield (), [(file.family, unit) for unit in file.units]
            keys = [key for key in blocks(db, *at) if not db.is_clean(block, *key)]
        for key in keys:
            group, family, _ = key[len(at) :]
            members = self._in_doubt(text, block, key)
            if members is None:
                members = [(family, unit) for unit in groups.item(db, *at, group) or ()]
            if members:
                yield key, members

    def _in_doubt(self, read: Query[Any, Any], query: Query[Any, Any], key: Key) -> list[Any] | None:
        """The keys of the rows of one query that a row of another reads and that may have changed; None where anything
        else that it reads may have."""
        found = self._build.db.dirty_deps(query, *key)
        if found is None or any(name[0] != read.name for name in found):
            return None
        return [name[1:] for name in found]
