"""JSON Schemas of the manifest and of every artifact type, generated from the Structs."""

from __future__ import annotations

from typing import Any

import msgspec

from pipeline.graph import ARTIFACTS
from pipeline.model.manifest import Manifest
from pipeline.model.node_text import NodeText
from pipeline.model.places import Places
from pipeline.model.specs import SpecFile
from pipeline.specs.spec_set import ROLES

# A stage's first artifact goes by the stage's name.
_STAGES = {"definitions": "derivatives", "pairs": "match"}

TYPES: dict[str, type[msgspec.Struct]] = {
    "manifest": Manifest,
    "specs": SpecFile,
    **{_STAGES.get(what, what): type_ for what, type_ in ARTIFACTS.items() if what not in ROLES},
    "emit": NodeText,
    "places": Places,
}


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a type. Rows that are kept encoded appear as any value."""
    return msgspec.json.schema(TYPES[name], schema_hook=_encoded)


def _encoded(type_: type) -> dict[str, Any]:
    if type_ is msgspec.Raw:
        return {"description": "an encoded value"}
    raise NotImplementedError(type_)
