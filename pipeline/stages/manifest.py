"""Stage `manifest`: what was generated from what, for other build systems.

Writes `manifest.json` in the spec set's cache folder, and a depfile, in the syntax that Ninja and make read, beside
each file that another build system builds from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from pipeline import __version__
from pipeline.families.file import File
from pipeline.model.infos import NodeRow
from pipeline.model.manifest import Manifest, ManifestFile, ManifestInput, ManifestNode
from pipeline.model.specs import SpecFile


def run(
    specs: str,
    release: str,
    layout: str,
    inputs: Mapping[str, bytes],
    files: Sequence[File],
    facts: Mapping[str, bytes],
    nodes: Sequence[NodeRow],
    derivatives: SpecFile,
) -> bytes:
    """The manifest as JSON. `inputs` are digests by name; `facts` are what shards know of their files:
    `Functions.h size` and the like."""
    spec_names = [name for name in inputs if not name.startswith("templates/")]
    manifest = Manifest(
        __version__,
        specs,
        release,
        layout,
        tuple(ManifestInput(name, found.hex()) for name, found in inputs.items()),
        tuple(_file(file, facts, spec_names) for file in files),
        tuple(
            ManifestNode(
                row.node,
                row.schema,
                row.dispatch_key,
                derivatives.name,
                derivatives.entries[row.entry].line,
                row.synthesized,
            )
            for row in nodes
        ),
    )
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def _file(file: File, facts: Mapping[str, bytes], spec_names: Sequence[str]) -> ManifestFile:
    template = (f"templates/{file.template}",) if file.template else ()
    return ManifestFile(
        file.name,
        int.from_bytes(facts[f"{file.name} size"], "big"),
        facts[f"{file.name} sha256"].hex(),
        facts[f"{file.name} file"].hex(),
        (*spec_names, *template),
        file.nodes,
    )


def depfile(target: str, inputs: Iterable[str]) -> bytes:
    """A rule without a recipe: `target` is out of date when one of `inputs` is newer."""
    lines = " \\\n  ".join(_escaped(path) for path in inputs)
    return f"{_escaped(target)}: {lines}\n".encode()


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
