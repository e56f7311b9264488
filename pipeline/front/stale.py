"""The units that a run has to print, in an order in which the blocks of files follow from them at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pipeline.front.run.build import Build

if TYPE_CHECKING:
    from pipeline.model.units import Unit
    from pipeline.query.query import Query

Key = tuple[Any, ...]  # of a block of a file
At = tuple[str, str]  # a unit by its family and its name

_FEW = 10  # a tenth of the units: to look at each of so many takes as long as to look at all


class StaleUnits:
    """The units whose text is to be made, and the blocks that are made of them."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._blocks: dict[At, Key] = {}  # by the unit that each ends with

    def find(self) -> dict[str, tuple[str, Unit]]:
        """The units, by what people call them: those of a block next to each other."""
        from pipeline.stages.emit import text

        doubted: dict[At, None] = {}
        for key, members in (found for name in self._build.file_names() for found in self._doubted(name)):
            if key and not any(unit in doubted for unit in members):
                self._blocks[members[-1]] = key
            doubted.update(dict.fromkeys(members))
        return self._called([at for at in doubted if not self._build.db.holds(text, *at)])

    def _called(self, wanted: list[At]) -> dict[str, tuple[str, Unit]]:
        """Units, by what people call them."""
        from pipeline.stages.units import unit, unit_titles

        known = unit_titles(self._build.db)
        if len(wanted) * _FEW < known.count:  # these are looked up one by one
            found = [(family, unit(self._build.db, family, name)) for family, name in wanted]
            named = {each.title: (family, each) for family, each in found if each is not None}
            if len(named) == len(wanted) and named.keys().isdisjoint(known.repeated):
                return named
        units = self._build.units()
        called = {(family, each.name): name for name, (family, each) in units.items()}
        return {called[at]: units[called[at]] for at in wanted}

    def bring(self, family: str, unit: str) -> None:
        """Brings a text up to date; where a block ends with it the block too, as long as its texts are in memory."""
        from pipeline.stages.emit import text
        from pipeline.stages.shard import block

        self._build.db.digest(text, family, unit)
        if (family, unit) in self._blocks:
            self._build.db.digest(block, *self._blocks[family, unit])

    def _doubted(self, name: str) -> Iterator[tuple[Key, list[At]]]:
        """The blocks of a file that may have changed, and the units of each whose texts may have."""
        from pipeline.stages.emit import text
        from pipeline.stages.shard import block, blocks, files, groups, parts

        db, at = self._build.db, (*self._build.layout, name)
        if db.current(parts, *at):
            return
        keys = self._in_doubt(block, parts, at)
        if keys is None:
            file = files.item(db, *at)
            if file is not None and file.whole:
                yield (), [(file.family, unit) for unit in file.units]
            keys = [key for key in blocks(db, *at) if not db.current(block, *key)]
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
        found = self._build.db.reads_in_doubt(query, *key)
        if found is None or any(name[0] != read.name for name in found):
            return None
        return [name[1:] for name in found]
