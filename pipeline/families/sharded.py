"""Families whose sources upstream splits into shards of one template.

torchgen: `utils.FileManager.write_sharded`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import DEFINITION, Family, Layout, shard_of
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.releases.model import Release

EVERYTHING = "Everything"  # in place of a shard's number: all units, in a file that no build compiles


class Sharded(Family):
    """A family of one template, `X.cpp`, which upstream fills for each shard: `X_0.cpp`."""

    has_shards = True

    def shard_count(self, release: Release) -> int:
        """Upstream's number of shards."""
        raise NotImplementedError

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The shards. The split layout puts a comment above each kernel that names its entry."""
        (template,) = self.templates
        origins = (DEFINITION,) if layout.name == "split" else ()
        return [
            File(
                template.replace(".", f"{shard}."),
                template,
                {"shard_id": shard},
                dict(self.slots),
                names,
                shard=shard,
                origins=origins,
            )
            for shard, names in self.shards(units, layout, release).items()
        ]

    def shards(self, units: Sequence[Unit], layout: Layout, release: Release) -> dict[str, tuple[str, ...]]:
        """The names of units by shard."""
        return shards_of(units, layout, self.shard_count(release))

    def owns(self, name: str) -> bool:
        """Whether a file name belongs to the family, in any layout."""
        stem = self.templates[0].removesuffix(".cpp")
        shard = name.removeprefix(stem).removesuffix(".cpp")
        return name == f"{stem}{shard}.cpp" and (shard == EVERYTHING or (shard[:1] == "_" and shard[1:].isdecimal()))


def shards_of(units: Sequence[Unit], layout: Layout, count: int) -> dict[str, tuple[str, ...]]:
    """The units of each shard, by the suffix of its file name. Upstream's layout adds `Everything` with all units, a
    file that no build compiles. `count`: upstream's number of shards, unless the layout has its own."""
    split = layout.name == "split"
    members: list[list[str]] = [[] for _ in range(layout.shards if split else layout.count or count)]
    for unit in units:
        members[shard_of(unit.operator, len(members))].append(unit.name)
    shards = {f"_{i}": tuple(names) for i, names in enumerate(members)}
    return shards if split else {**shards, EVERYTHING: tuple(unit.name for unit in units)}
