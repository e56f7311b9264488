"""`gradmill schema TYPE`: the JSON Schema of a spec file, of the manifest, or of what a command prints."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from gradmill.builds.worker.messages import WorkRequest, WorkResponse
from gradmill.cli.commands.families import ShownFamily
from gradmill.cli.commands.list import Listed
from gradmill.cli.commands.report import json_text
from gradmill.cli.commands.request import Request
from gradmill.doors import loaded
from gradmill.model.manifest import Manifest, Units
from gradmill.problems.catalog.rule import Rule
from gradmill.problems.machines import Findings
from gradmill.problems.problem import SpecError, nearest
from gradmill.reports.coverage import Coverage
from gradmill.reports.diff.code_changes import CodeReport
from gradmill.reports.diff.model import Report
from gradmill.reports.explain import Edit, Explanation
from gradmill.reports.origin.lines import Line
from gradmill.reports.row_types import ROWS
from gradmill.reports.spec_schemas import FILES, spec_schema
from gradmill.specs.layers.description import Description
from gradmill.stages.set import release
from gradmill.stages.tags import tags

_UNITS = "manifest.units"
# What commands print, by the name of its kind. A tuple lists alternatives, a list those of the elements of an array.
PRINTED: dict[str, Any] = {
    "coverage": Coverage,
    "work-request": WorkRequest,
    "work-response": WorkResponse,
    "explain": [Explanation, Line, Edit],
    "families": list[ShownFamily],
    "list": list[Listed],
    "rule": list[Rule],
    **{name: kind for more in loaded("printed") for name, kind in more.items()},
}
# All types with a JSON Schema: also the manifest, descriptions, other reports, the lines of `show`.
TYPES: dict[str, Any] = {
    **PRINTED,
    "manifest": Manifest,
    _UNITS: Units,
    "specset": Description,
    "problems": Findings,
    "diff": Report,
    "diff.code": CodeReport,
    # The plain name of derivatives is that of the schema of the YAML file.
    **{"derivatives.row" if name == "derivatives" else name: rows for name, rows in ROWS.items()},
}


def main(request: Request) -> int:
    """Prints a JSON Schema, generated from the data types."""
    name = " ".join(request.names)
    if name in FILES:  # these have the set's tags
        with request.open() as session:
            return _print(spec_schema(name, release(session.db), tags(session.db)))
    if name not in TYPES:
        named = (each for each in TYPES if each != _UNITS)
        problem = f"schema: no type '{name}'" if name else "schema: name a type"
        raise SpecError(problem, nearest(name, [*FILES, *TYPES]) or f"types: {', '.join((*FILES, *named))}")
    return _print(_json_schema(TYPES[name]))


def _print(schema: dict[str, Any]) -> int:
    sys.stdout.write(json_text(schema).decode())
    return 0


def _json_schema(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type of the table."""
    if isinstance(type_, list):
        element = _json_schema(tuple(type_))
        return {"type": "array", "items": element, "$defs": element.pop("$defs")}
    if not isinstance(type_, tuple):
        return msgspec.json.schema(type_)
    schemas, definitions = msgspec.json.schema_components(type_, ref_template="#/$defs/{name}")
    return {**(schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}), "$defs": definitions}
