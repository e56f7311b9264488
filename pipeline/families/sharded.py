"""Families whose sources upstream splits into shards of one template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.families.family import Layout, shard_of
from pipeline.families.file import File
from pipeline.model.units import Unit

DEFINITION = "definition"  # the piece that is a kernel
DECLARATION = "declaration"  # its head: a piece for descriptions alone
REGISTRATION = "registration"


def shards_of(units: Sequence[Unit], layout: Layout, count: int) -> dict[str, tuple[str, ...]]:
    """The units of each shard, by what its name ends with. The last one has all units, and nobody compiles it: it is
    upstream's only. `count`: upstream's number of shards; another layout says its own."""
    split = layout.name == "split"
    members: list[list[str]] = [[] for _ in range(layout.shards if split else layout.count or count)]
    for unit in units:
        members[shard_of(unit.operator, len(members))].append(unit.name)
    found = {f"_{i}": tuple(names) for i, names in enumerate(members)}
    return found if split else {**found, "Everything": tuple(unit.name for unit in units)}


def sharded_files(
    template: str, shards: Mapping[str, tuple[str, ...]], slots: Mapping[str, str], layout: Layout
) -> list[File]:
    """`X_0.cpp` and so on; `template` is `X.cpp`. The split layout says of each kernel where it is from."""
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
