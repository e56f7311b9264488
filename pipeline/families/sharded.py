"""Families whose sources upstream splits into shards of one template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.families.family import Layout, shard_of
from pipeline.families.file import File
from pipeline.model.units import Unit

DEFINITION = "definition"  # the piece with the kernel
DECLARATION = "declaration"  # its head: only descriptions use this piece
REGISTRATION = "registration"


def shards_of(units: Sequence[Unit], layout: Layout, count: int) -> dict[str, tuple[str, ...]]:
    """The units of each shard, by the suffix of its file name. Upstream's layout adds `Everything` with all units, a
    file that no build compiles. `count`: upstream's number of shards, unless the layout has its own."""
    split = layout.name == "split"
    members: list[list[str]] = [[] for _ in range(layout.shards if split else layout.count or count)]
    for unit in units:
        members[shard_of(unit.operator, len(members))].append(unit.name)
    shards = {f"_{i}": tuple(names) for i, names in enumerate(members)}
    return shards if split else {**shards, "Everything": tuple(unit.name for unit in units)}


def sharded_files(
    template: str, shards: Mapping[str, tuple[str, ...]], slots: Mapping[str, str], layout: Layout
) -> list[File]:
    """The files `X_0.cpp` and so on of the template `X.cpp`. The split layout puts a comment above each kernel
    that names its entry."""
    stem = template.removesuffix(".cpp")
    origins = (DEFINITION,) if layout.name == "split" else ()
    return [
        File(
            f"{stem}{shard}.cpp",
            template,
            {"shard_id": shard},
            dict(slots),
            names,
            shard=shard,
            origins=origins,
        )
        for shard, names in shards.items()
    ]
