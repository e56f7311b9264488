"""`stamp=FILE`: the digests of the selected tasks' results, for build systems that compare the time of one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gradmill.query.explain import digest_of_all
from gradmill.query.memo import digest_of
from gradmill.session.contents import units as units_of

if TYPE_CHECKING:
    from gradmill.model.units import Unit
    from gradmill.session.build import Build


def stamp_of(build: Build, selected: Sequence[str]) -> bytes:
    """The bytes of the stamp: a line for each selected task with the digest of its result, in hex."""
    units = units_of(build.db) if any(task.startswith("emit:") for task in selected) else {}
    lines = [f"{task} {_digest(build, task, units).hex()}" for task in selected]
    return "\n".join(["gradmill stamp", *lines, ""]).encode()


def _digest(build: Build, task: str, units: Mapping[str, tuple[str, Unit]]) -> bytes:
    """The digest of a task's result: of a stage, that of all values of its queries."""
    from gradmill.stages.emit import text
    from gradmill.stages.manifest import manifest, units_digest
    from gradmill.stages.shard import made

    if task in build.stages.analysis:
        query, *args = build.stages.root(task)
        build.db.digest(query, *args)
        module = query.name.partition(":")[0]
        return digest_of_all(build.db, (query.name, *args), lambda name: str(name[0]).partition(":")[0] == module)
    group, _, name = task.partition(":")
    if group == "manifest":
        return digest_of(build.db.digest(manifest, *build.layout), units_digest(build.db))
    if group == "emit" and name in units:
        family, unit = units[name]
        return build.db.digest(text, family, unit.name)
    names = [name] if group == "shard" and name else build.file_names()
    return digest_of(*(build.db.digest(made, *build.layout, file) for file in names))
