"""`doit schema TYPE`: the JSON Schema of the manifest or of an artifact type."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from pipeline.build.engine import Build
from pipeline.front.commands.command import BuildCommand
from pipeline.problems.problem import SpecError, nearest


class Schema(BuildCommand):
    """Prints a JSON Schema, generated from the data types."""

    name = "schema"
    doc_purpose = "print the JSON Schema of the manifest or of an artifact type"
    doc_usage = "TYPE"
    doc_description = "TYPE is manifest, or a stage: specs, schemas, derivatives, infos, foreach, match, nodes, emit."

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.reports.json_schemas import TYPES, json_schema

        name = " ".join(arguments)
        if name not in TYPES:
            raise SpecError(f"schema: no type '{name}'", nearest(name, TYPES) or f"types: {', '.join(TYPES)}")
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(json_schema(name)), indent=2).decode() + "\n")
        return 0
