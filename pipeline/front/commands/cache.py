"""`doit cache export FILE` and `doit cache import FILE`: the results of a set in one file, for other machines."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from pipeline.front.commands.command import BuildCommand
from pipeline.front.run.archive import export_store, import_store
from pipeline.front.run.build import WRITES, Build
from pipeline.problems.plain import lines, warn
from pipeline.problems.problem import SpecError, nearest

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
    description = export_store(build, file)
    size = f"{os.path.getsize(file) / 1e6:.1f} MB"
    sys.stdout.write(lines([f"{file}: {_contents(description)}, {size}"]))


def _import(build: Build, file: str) -> None:
    restored = import_store(build, file)
    sys.stdout.write(lines([f"{build.config.folder}: {_contents(restored.description)}"]))
    if restored.changed:
        changed = ", ".join(restored.changed)
        warn(f"other inputs than those it was made from: {changed}; the next run rebuilds what depends on them")


def _contents(description: Description) -> str:
    origin = description.origin
    return f"{description.rows} rows of {origin.specs}, release {origin.release}, by gradmill {origin.gradmill}"
