"""JSON Schemas of the manifest and of every artifact type, generated from the Structs."""

from __future__ import annotations

from typing import Any

import msgspec

from pipeline.model.functions import Bodies, Functions
from pipeline.model.infos import (
    Definitions,
    Dependents,
    Foreach,
    Infos,
    Nodes,
    Pairs,
    References,
    Rewritten,
    Targets,
)
from pipeline.model.manifest import Manifest
from pipeline.model.node_text import NodeText
from pipeline.model.places import Places
from pipeline.model.specs import SpecFile

TYPES: dict[str, type[msgspec.Struct]] = {
    "manifest": Manifest,
    "specs": SpecFile,
    "schemas": Functions,
    "bodies": Bodies,
    "derivatives": Definitions,
    "targets": Targets,
    "infos": Infos,
    "references": References,
    "foreach": Foreach,
    "match": Pairs,
    "dependents": Dependents,
    "rewritten": Rewritten,
    "nodes": Nodes,
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
