"""JSON Schemas of the manifest, of the lines of `show` and of the results of queries, from their types."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from gradmill.doors import readers
from gradmill.model.manifest import Manifest, Units
from gradmill.problems.machines import Findings
from gradmill.query.query import Query
from gradmill.reports.diff.code_changes import CodeReport
from gradmill.reports.diff.model import Report
from gradmill.reports.row_types import ROWS
from gradmill.specs.layers.description import Description

_MODULES = ("specs", "schemas", "derivatives", "infos", "foreach", "match", "units", "emit", "shard")

DIFF = "diff"  # the report of the command
DIFF_OF_CODE = "diff.code"  # with `--code`
DERIVATIVES = "derivatives.row"  # a line of `show derivatives`; the plain name is the YAML file's schema


def types() -> dict[str, Any]:
    """All types with a JSON Schema, by name: the manifest, the list of units, stages, and queries as `stage.query`."""
    by_name: dict[str, Any] = {
        "manifest": Manifest,
        "manifest.units": Units,
        "specset": Description,
        "problems": Findings,
        DIFF: Report,
        DIFF_OF_CODE: CodeReport,
        **{DERIVATIVES if name == "derivatives" else name: rows for name, rows in ROWS.items()},
    }
    modules = {name: f"gradmill.stages.{name}" for name in _MODULES}
    for name, where in (modules | {name: reads.module for name, reads in readers().items()}).items():
        module = import_module(where)
        queries = {query for query in vars(module).values() if isinstance(query, Query)}
        own = sorted(query.name.partition(":")[2] for query in queries if query.function.__module__ == module.__name__)
        by_name |= {f"{name}.{query}": getattr(module, query).result for query in own}
    return by_name


def json_schema(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type. A tuple lists alternatives, a list those of the elements of an array. Values that are
    stored encoded may be anything."""
    if isinstance(type_, list):
        element = json_schema(tuple(type_))
        return {"type": "array", "items": element, "$defs": element.pop("$defs")}
    if not isinstance(type_, tuple):
        return msgspec.json.schema(type_, schema_hook=_encoded)
    schemas, definitions = msgspec.json.schema_components(type_, schema_hook=_encoded, ref_template="#/$defs/{name}")
    return {**(schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}), "$defs": definitions}


def _encoded(type_: type) -> dict[str, Any]:
    if type_ is msgspec.Raw:
        return {"description": "an encoded value"}
    raise NotImplementedError(type_)
