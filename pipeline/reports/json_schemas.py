"""JSON Schemas of the manifest and of what the stages' queries give, generated from their types."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from pipeline.model.manifest import Manifest
from pipeline.problems.machines import Findings
from pipeline.query.query import Query
from pipeline.specs.layers.description import Description
from pipeline.stages import emit, foreach, graphs, infos, match, schemas, shard, specs, units

_MODULES = ("specs", "schemas", "derivatives", "infos", "foreach", "match", "graphs", "units", "emit", "shard")

# What is meant by the name of a stage alone.
_MAIN: dict[str, Query[Any, Any]] = {
    "specs": specs.entries,
    "schemas": schemas.declared,
    "infos": infos.infos_of,
    "foreach": foreach.synthesized,
    "match": match.pairs,
    "graphs": graphs.graph,
    "nodes": match.nodes,
    "units": units.units,
    "emit": emit.text,
    "shard": shard.files,
}


def types() -> dict[str, Any]:
    """Every type that has a JSON Schema, by name: the manifest, stages, and queries as `stage.query`."""
    found: dict[str, Any] = {
        "manifest": Manifest,
        "specset": Description,
        "problems": Findings,
        **{name: query.result for name, query in _MAIN.items()},
    }
    for name in _MODULES:
        module = import_module(f"pipeline.stages.{name}")
        queries = {query for query in vars(module).values() if isinstance(query, Query)}
        own = sorted(query.name.partition(":")[2] for query in queries if query.module == module.__name__)
        found |= {f"{name}.{query}": getattr(module, query).result for query in own}
    return found


def json_schema(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type. What is kept encoded appears as any value."""
    return msgspec.json.schema(type_, schema_hook=_encoded)


def _encoded(type_: type) -> dict[str, Any]:
    if type_ is msgspec.Raw:
        return {"description": "an encoded value"}
    raise NotImplementedError(type_)
