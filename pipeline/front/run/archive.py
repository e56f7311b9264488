"""Stores that move between machines: `cache export FILE` writes one, `cache import FILE` restores it.

A store has no paths. Its memos are valid wherever the inputs have the same digests. One that was made from other specs
is only slower; one that was made by other code, another Python or other libraries is refused. Import only archives you
trust.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from pipeline import __version__
from pipeline.front.output.ownership import identities, refusal, refused
from pipeline.front.run.build import Build
from pipeline.front.run.claims import claim_cache
from pipeline.front.run.collect import is_root
from pipeline.front.run.paths import TRANSFER
from pipeline.problems.problem import SpecError
from pipeline.query.memo import MISSING, Input, StoreDamaged
from pipeline.stages.set import CODE

if TYPE_CHECKING:
    from pipeline.store.archive import Description


class Restored(Struct, frozen=True):
    """A store after it was imported. `changed`: the inputs that differ from those that it was made from."""

    description: Description
    changed: tuple[str, ...]


def export_store(build: Build, file: str) -> Description:
    """Writes what complete runs need of a set's store to `file`. SpecError if there is nothing to write, or something
    else is in that place; OSError if it cannot be written."""
    from pipeline.store.archive import Origin, is_archive, pack

    build.lock()
    if problem := refusal(file, identities(build.inputs.spec_paths()), is_archive):
        raise refused(file, problem, "cache export FILE")
    store, config = build.store, build.config
    if not os.path.isfile(store):
        raise SpecError(f"{config.folder}: there are no results to export", "run gradmill first, with these variables")
    origin = Origin(__version__, config.specs.name, config.release)
    try:
        return pack(store, os.path.join(config.folder, TRANSFER), file, origin, is_root)
    except StoreDamaged as damage:
        raise SpecError(f"{store}: the store is damaged ({damage})", "run gradmill, which rebuilds it") from None


def import_store(build: Build, file: str) -> Restored:
    """Puts the store in `file` in the place of a set's own. SpecError if it cannot be used; nothing has changed then.
    OSError if the cache cannot be written."""
    from pipeline.store.archive import Unusable, unpack

    if not os.path.isfile(file):  # reading a pipe could block forever
        raise SpecError(f"{file}: there is no such file", "name a file that cache export wrote")
    build.lock()
    store, code = build.store, build.inputs.code.digest
    scratch = os.path.join(build.config.folder, TRANSFER)
    try:
        description, snapshot = unpack(file, scratch, store, lambda theirs: theirs.get(CODE) == Input(code).digest)
    except Unusable as problem:
        raise SpecError(f"{file}: {problem}", "nothing was imported; export it again, with this gradmill") from None
    claim_cache(build.config)
    return Restored(description, _changed(build, snapshot.inputs))


def _changed(build: Build, theirs: Mapping[str, bytes]) -> tuple[str, ...]:
    """What differs between the inputs of a store and those of this set, in words, each once."""
    ours = {label: data.digest for label, data in build.inputs.take().items()}
    labels = [label for label in {**theirs, **ours} if theirs.get(label, MISSING) != ours.get(label, MISSING)]
    return tuple(dict.fromkeys(label.partition("/")[2] or label for label in labels))  # as users know them
