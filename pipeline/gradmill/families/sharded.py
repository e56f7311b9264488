"""Families whose sources upstream splits into shards of one template.

torchgen: `utils.FileManager.write_sharded`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from gradmill.families.family import DEFINITION, Family, Layout, shard_of
from gradmill.families.file import Content, File, Pieces
from gradmill.model.native import FunctionSummary
from gradmill.model.units import Unit
from gradmill.releases.model import Release

EVERYTHING = "Everything"  # in place of a shard's number: all units, in a file that no build compiles


class Sharded(Family):
    """A family of kernels with a template, the last one, that upstream fills for each shard: `X.cpp` for `X_0.cpp`."""

    upstream_shards: int = 0  # if all releases have as many

    def shard_count(self, release: Release) -> int:
        """Upstream's number of shards."""
        return self.upstream_shards

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The shards. The split layout puts a comment above each kernel that names its entry."""
        split = layout.name == "split"
        pieces = {hole: Pieces(own, origin=split and own == DEFINITION) for hole, own in self.slots.items()}
        return shard_files(self.row.templates[-1], self.shards(units, layout, release), pieces)

    def shards(self, units: Sequence[Unit], layout: Layout, release: Release) -> dict[str, tuple[str, ...]]:
        """The names of units by shard. A layout or a description may give another number than upstream's."""
        if layout.name == "split":
            return distributed(units, layout.shards, everything=False)
        return distributed(units, layout.count or self.shard_count(release))

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function's kernels are generated."""
        return head.cpp_name not in release.manual_kernels

    def owns(self, name: str) -> bool:
        stem = os.path.basename(self.row.templates[-1]).removesuffix(".cpp")
        shard = name.removeprefix(stem).removesuffix(".cpp")
        return name == f"{stem}{shard}.cpp" and (shard == EVERYTHING or (shard[:1] == "_" and shard[1:].isdecimal()))


def shard_files(template: str, shards: Mapping[str, tuple[str, ...]], holes: Mapping[str, Content]) -> list[File]:
    """The files of shards of a template."""
    stem, ending = os.path.splitext(os.path.basename(template))
    return [
        File(
            name=f"{stem}{shard}{ending}",
            template=template,
            holes={"shard_id": shard, **holes},
            units=names,
            shard=shard,
        )
        for shard, names in shards.items()
    ]


def distributed(units: Iterable[Unit], count: int, *, everything: bool = True) -> dict[str, tuple[str, ...]]:
    """The names of units by the suffix of their shard in file names. `everything`: adds `Everything` with all units, a
    file that no build compiles."""
    listed = list(units)
    every = tuple(unit.name for unit in listed)
    members: list[list[str]] = [[] for _ in range(count)]
    for unit in listed if count > 1 else ():
        members[shard_of(unit.shard_key, count)].append(unit.name)
    shards = {f"_{i}": tuple(names) for i, names in enumerate(members)} if count > 1 else {"_0": every}
    return {**shards, EVERYTHING: every} if everything else shards
