"""JSON Schemas of the manifest, of the lines that `show` prints and of what queries give, from their types."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from pipeline.model.manifest import Manifest
from pipeline.problems.machines import Findings
from pipeline.query.query import Query
from pipeline.reports.shown import ROWS
from pipeline.specs.layers.description import Description

_MODULES = ("specs", "schemas", "derivatives", "infos", "foreach", "match", "graphs", "units", "emit", "shard")

DERIVATIVES = "derivatives.row"  # a line of `show derivatives`, as `derivatives` alone is the YAML file


def types() -> dict[str, Any]:
    """Every type that has a JSON Schema, by name: the manifest, stages, and queries as `stage.query`. Several types are
    a tuple."""
    found: dict[str, Any] = {
        "manifest": Manifest,
        "specset": Description,
        "problems": Findings,
        **{DERIVATIVES if name == "derivatives" else name: rows for name, rows in ROWS.items()},
    }
    for name in _MODULES:
        module = import_module(f"pipeline.stages.{name}")
        queries = {query for query in vars(module).values() if isinstance(query, Query)}
        own = sorted(query.name.partition(":")[2] for query in queries if query.module == module.__name__)
        found |= {f"{name}.{query}": getattr(module, query).result for query in own}
    return found


def json_schema(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type. What is kept encoded appears as any value."""
    if not isinstance(type_, tuple):
        return msgspec.json.schema(type_, schema_hook=_encoded)
    found, definitions = msgspec.json.schema_components(type_, schema_hook=_encoded, ref_template="#/$defs/{name}")
    return {**(found[0] if len(found) == 1 else {"anyOf": list(found)}), "$defs": definitions}


def _encoded(type_: type) -> dict[str, Any]:
    if type_ is msgspec.Raw:
        return {"description": "an encoded value"}
    raise NotImplementedError(type_)
