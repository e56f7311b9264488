"""The units that a run has to print, in an order that completes the blocks of files early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pipeline.families.file import ANY
from pipeline.front.run.build import Build
from pipeline.front.run.contents import At
from pipeline.io.spill import Spill

if TYPE_CHECKING:
    from pipeline.query.query import Query

Key = tuple[Any, ...]  # of a block of a file, or of the files that the operators of a bucket have


class StaleUnits:
    """The units with dirty texts, and the blocks that contain them."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._blocks: dict[At, list[Key]] = {}  # by that of their units that comes last
        self.texts = Spill(build.paths.cache)  # of files that operators have, until they are written

    def find(self) -> list[At]:
        """The units; those of the first file with blocks are in its order."""
        from pipeline.stages.emit import text

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
        from pipeline.stages.emit import text

        self._build.db.digest(text, family, unit)
        for key in self._blocks.pop((family, unit), ()):
            self._complete(*key)

    def complete(self) -> None:
        """Brings the blocks up to date whose last unit was."""
        while self._blocks:
            for key in self._blocks.popitem()[1]:
                self._complete(*key)

    def _complete(self, *key: Any) -> None:
        from pipeline.query.memo import encode
        from pipeline.stages.operator_files import contents_of_each, made_of_each
        from pipeline.stages.shard import block

        db, name = self._build.db, key[2]
        if ANY not in name:
            db.digest(block, *key)
            return
        # The texts are large, and are written only after the places of all files are checked.
        if self._build.writes and not db.is_valid(made_of_each, *key):
            with suppress(OSError):  # a full disk, or a folder that cannot be written: then they are made twice
                self.texts.keep(f"{name}/{key[3]}", encode(contents_of_each(db, *key)))
        db.digest(made_of_each, *key)

    def _dirty_blocks(self, name: str) -> Iterator[tuple[Key, list[At]]]:
        """The dirty blocks of a file, each with its units that have dirty texts."""
        from pipeline.stages.arrangement import files, groups, units_of
        from pipeline.stages.emit import text
        from pipeline.stages.shard import block, blocks, ordered, ordered_places, parts

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
        for key in ordered_places(db, *at):
            if not db.is_clean(ordered, *key):
                members = self._dirty_deps(text, ordered, key)
                yield (), [(key[3], unit) for unit in units_of(db, *at)] if members is None else members

    def _dirty_files(self, name: str) -> Iterator[tuple[Key, list[At]]]:
        """The buckets of operators with dirty files of one name, each with its units."""
        from pipeline.stages.arrangement import files
        from pipeline.stages.operator_files import made_of_each
        from pipeline.stages.schemas import buckets
        from pipeline.stages.shard import outline, parts
        from pipeline.stages.units import units_in

        db, at = self._build.db, (*self._build.layout, name)
        file = files.item(db, *at)
        assert file is not None
        keys = self._dirty_deps(made_of_each, parts, at, besides=outline.name)
        if keys is None:
            listed = ((*at, bucket) for bucket in db.names(buckets))
            keys = [key for key in listed if not db.is_clean(made_of_each, *key)]
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
