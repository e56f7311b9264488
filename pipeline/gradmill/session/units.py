"""The units of a build by title, and those that a run has to print, in an order that completes file blocks early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gradmill.families.file import ANY
from gradmill.session.build import Build

if TYPE_CHECKING:
    from gradmill.model.units import Unit
    from gradmill.query.database import Database
    from gradmill.query.query import Query

At = tuple[str, str]  # a unit: its family and its name
Key = tuple[Any, ...]  # of a block of a file, or of the files that the operators of a bucket have

_MANY = 64  # looking up so many units one by one takes as long as listing all


def units(db: Database) -> dict[str, tuple[str, Unit]]:
    """The units of all families, by title, in the order in which they are printed, each with the name of its family;
    equal titles are numbered."""
    from gradmill.model.entries import numbered
    from gradmill.stages.requested import families
    from gradmill.stages.units import units as units_of

    listed = [(family, unit) for family in families(db) for unit in units_of(db, family)]
    return dict(zip(numbered(unit.title for _, unit in listed), listed))


def titles_of(db: Database, wanted: Sequence[At]) -> list[str]:
    """The titles of some units, numbered as in `units`."""
    from gradmill.stages.units import unit, unit_titles

    found, shared = [unit(db, *at) for at in wanted[:_MANY]], unit_titles(db).shared
    if len(wanted) > _MANY or any(each is not None and each.title in shared for each in found):
        titles = {(family, each.name): title for title, (family, each) in units(db).items()}
        return [titles.get(at, at[1]) for at in wanted]
    return [at[1] if each is None else each.title for at, each in zip(wanted, found)]


class StaleUnits:
    """The units with dirty texts, and the blocks that contain them."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._blocks: dict[At, list[Key]] = {}  # by that of their units that comes last

    def find(self) -> list[At]:
        """The units; those of the first file with blocks are in its order."""
        from gradmill.stages.emit import text
        from gradmill.stages.shard import stage

        self._build.db.expect(stage, *self._build.layout)
        listed = [block for name in self._build.file_names() for block in self._dirty_blocks(name)]
        listed.sort(key=lambda block: not block[0])
        units = dict.fromkeys(unit for _, members in listed for unit in members)
        place = {unit: i for i, unit in enumerate(units)}
        for key, members in listed:
            if key:
                self._blocks.setdefault(max(members, key=place.__getitem__), []).append(key)
        return [at for at in units if not self._build.db.is_valid(text, *at)]

    def update(self, family: str, unit: str) -> None:
        """Brings a unit's text up to date, and the blocks that it completes, while their texts are in memory."""
        from gradmill.stages.emit import text

        self._build.db.digest(text, family, unit)
        for key in self._blocks.pop((family, unit), ()):
            self._complete(*key)

    def complete(self) -> None:
        """Brings the blocks up to date whose last unit was."""
        while self._blocks:
            for key in self._blocks.popitem()[1]:
                self._complete(*key)

    def _complete(self, *key: Any) -> None:
        from gradmill.stages.operator_files import digests_of_each
        from gradmill.stages.shard import block

        self._build.db.digest(digests_of_each if ANY in key[2] else block, *key)

    def _dirty_blocks(self, name: str) -> Iterator[tuple[Key, list[At]]]:
        """The dirty blocks of a file, each with its units that have dirty texts."""
        from gradmill.stages.arrangement import files, groups, units_of
        from gradmill.stages.emit import text
        from gradmill.stages.shard import block, blocks, ordered, parts, sorted_keys

        db, at = self._build.db, (*self._build.layout, name)
        if db.is_clean(parts, *at):
            return
        if ANY in name:
            yield from self._dirty_files(name)
            return
        keys = self._dirty_deps(block, parts, at)
        if keys is None:
            file = files.item(db, *at)
            if file is not None and file.whole:
                yield (), [(file.family, unit) for unit in file.units]
            keys = [key for key in blocks(db, *at) if not db.is_clean(block, *key)]
        for key in keys:
            group, family, _ = key[len(at) :]
            members = self._dirty_deps(text, block, key)
            if members is None:
                members = [(family, unit) for unit in groups.item(db, *at, group) or ()]
            if members:
                yield key, members
        for key in sorted_keys(db, *at):
            if not db.is_clean(ordered, *key):
                members = self._dirty_deps(text, ordered, key)
                yield (), [(key[3], unit) for unit in units_of(db, *at)] if members is None else members

    def _dirty_files(self, name: str) -> Iterator[tuple[Key, list[At]]]:
        """The buckets of operators with dirty files of one name, each with its units."""
        from gradmill.stages.arrangement import files
        from gradmill.stages.operator_files import digests_of_each
        from gradmill.stages.schemas import buckets
        from gradmill.stages.shard import outline, parts
        from gradmill.stages.units import units_in

        db, at = self._build.db, (*self._build.layout, name)
        file = files.item(db, *at)
        assert file is not None
        keys = self._dirty_deps(digests_of_each, parts, at, besides=outline.name)
        if keys is None:
            listed = ((*at, bucket) for bucket in db.names(buckets))
            keys = [key for key in listed if not db.is_clean(digests_of_each, *key)]
        for key in keys:
            if members := [(file.family, unit.name) for unit in units_in(db, file.family, key[3])]:
                yield key, members

    def _dirty_deps(
        self, dep: Query[Any, Any], query: Query[Any, Any], key: Key, *, besides: str = ""
    ) -> list[Any] | None:
        """The keys of the dirty dependencies of a row, if all of them are calls of `dep`, or of the query `besides`,
        which are left out; else None."""
        names = self._build.db.dirty_deps(query, *key)
        if names is None or any(name[0] not in (dep.name, besides) for name in names):
            return None
        return [name[1:] for name in names if name[0] == dep.name]
