"""Files in shards, the way upstream has them: a unit is in the shard of its operator, and in a file of all units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.families.family import shard_of
from pipeline.families.file import File
from pipeline.model.units import Unit


def sharded_files(
    template: str, units: Sequence[Unit], shards: int, slots: Mapping[str, str], family: str
) -> list[File]:
    """`X_0.cpp` and so on, then `XEverything.cpp`, which nobody compiles; `template` is `X.cpp`."""
    members: list[list[str]] = [[] for _ in range(shards)]
    for unit in units:
        members[shard_of(unit.operator, shards)].append(unit.name)
    named = [*((f"_{i}", names) for i, names in enumerate(members)), ("Everything", [unit.name for unit in units])]
    stem = template.removesuffix(".cpp")
    return [
        File(f"{stem}{shard}.cpp", template, {"shard_id": shard}, dict(slots), tuple(names), family=family)
        for shard, names in named
    ]
