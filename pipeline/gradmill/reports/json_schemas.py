"""JSON Schemas of the manifest, of reports and of the lines of `show`, from their types."""

from __future__ import annotations

from typing import Any

import msgspec

from gradmill.model.manifest import Manifest, Units
from gradmill.problems.machines import Findings
from gradmill.reports.diff.code_changes import CodeReport
from gradmill.reports.diff.model import Report
from gradmill.reports.row_types import ROWS
from gradmill.specs.layers.description import Description

DIFF = "diff"  # the report of the command
DIFF_OF_CODE = "diff.code"  # with `--code`
DERIVATIVES = "derivatives.row"  # a line of `show derivatives`; the plain name is the YAML file's schema


def types() -> dict[str, Any]:
    """All types with a JSON Schema, by name: the manifest, the list of units, reports, stages."""
    return {
        "manifest": Manifest,
        "manifest.units": Units,
        "specset": Description,
        "problems": Findings,
        DIFF: Report,
        DIFF_OF_CODE: CodeReport,
        **{DERIVATIVES if name == "derivatives" else name: rows for name, rows in ROWS.items()},
    }


def json_schema(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type. A tuple lists alternatives, a list those of the elements of an array."""
    if isinstance(type_, list):
        element = json_schema(tuple(type_))
        return {"type": "array", "items": element, "$defs": element.pop("$defs")}
    if not isinstance(type_, tuple):
        return msgspec.json.schema(type_)
    schemas, definitions = msgspec.json.schema_components(type_, ref_template="#/$defs/{name}")
    return {**(schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}), "$defs": definitions}
