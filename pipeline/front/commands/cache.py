"""`doit cache export FILE` and `doit cache import FILE`: the results of a set in one file, for other machines.

A store has no paths. Its memos are valid wherever the inputs have the same digests. One that was made from other specs
is only slower; one that was made by other code, another Python or other libraries is refused. Import only archives you
trust.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline import __version__
from pipeline.front.commands.command import BuildCommand
from pipeline.front.output.ownership import identities, refusal, refused
from pipeline.front.run.build import WRITES, Build
from pipeline.front.run.claims import claim_cache
from pipeline.front.run.collect import is_root
from pipeline.front.run.paths import TRANSFER
from pipeline.problems.plain import lines, warn
from pipeline.problems.problem import SpecError, nearest
from pipeline.query.memo import MISSING, Input, StoreDamaged
from pipeline.stages.set import CODE

if TYPE_CHECKING:
    from pipeline.store.archive import Description

_WORDS = ("export", "import")
_USAGE = "gradmill cache export|import FILE [specs=SET …]"


class Cache(BuildCommand):
    """Exports the results of a spec set to a file, or imports them."""

    name = "cache"
    doc_purpose = "export a set's results to a file, or import them"
    doc_usage = "export|import FILE [specs=SET …] [cache=DIR]"
    doc_description = (
        "export writes what the last complete runs of the set computed to FILE. import puts that in the place of the"
        " set's results in the cache, at any path and on any machine. Specs may differ: a run computes what depends on"
        " the difference. An archive of another gradmill or Python is refused. Import only archives you trust."
    )
    mode = WRITES

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        word, *files = arguments or [""]
        if word not in _WORDS:
            problem = f"cache: no action '{word}'" if word else "cache: name an action"
            raise SpecError(problem, nearest(word, _WORDS) or f"write {_USAGE}")
        if len(files) != 1:
            raise SpecError(f"cache {word}: name one file", f"write {_USAGE}")
        (_export if word == "export" else _import)(self.build, files[0])
        return 0


def _export(build: Build, file: str) -> None:
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
        description = pack(store, os.path.join(config.folder, TRANSFER), file, origin, is_root)
    except StoreDamaged as damage:
        raise SpecError(f"{store}: the store is damaged ({damage})", "run gradmill, which rebuilds it") from None
    size = f"{os.path.getsize(file) / 1e6:.1f} MB"
    sys.stdout.write(lines([f"{file}: {_contents(description)}, {size}"]))


def _import(build: Build, file: str) -> None:
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
    changed = ", ".join(_changed(build, snapshot.inputs))
    sys.stdout.write(lines([f"{build.config.folder}: {_contents(description)}"]))
    if changed:
        warn(f"other inputs than those it was made from: {changed}; the next run rebuilds what depends on them")


def _changed(build: Build, theirs: Mapping[str, bytes]) -> list[str]:
    """What differs between the inputs of a store and those of this set, in words, each once."""
    ours = {label: data.digest for label, data in build.inputs.take().items()}
    labels = [label for label in {**theirs, **ours} if theirs.get(label, MISSING) != ours.get(label, MISSING)]
    return list(dict.fromkeys(label.partition("/")[2] or label for label in labels))  # as users know them


def _contents(description: Description) -> str:
    origin = description.origin
    return f"{description.rows} rows of {origin.specs}, release {origin.release}, by gradmill {origin.gradmill}"
