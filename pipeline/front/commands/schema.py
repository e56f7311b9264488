"""`doit schema TYPE`: the JSON Schema of the manifest or of what a stage makes."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from pipeline.front.commands.command import BuildCommand
from pipeline.front.run.build import Build
from pipeline.problems.problem import SpecError, nearest


class Schema(BuildCommand):
    """Prints a JSON Schema, generated from the data types."""

    name = "schema"
    doc_purpose = "print the JSON Schema of the manifest or of an artifact type"
    doc_usage = "TYPE"
    doc_description = (
        "TYPE is manifest; specset, of descriptions; problems, of format=json; a stage, specs, schemas, derivatives,"
        " infos, foreach, match, emit or shard; nodes or units;"
        " or one of the queries of a stage: infos.targets."
    )

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.reports.json_schemas import json_schema, types

        known = types()
        name = " ".join(arguments)
        if name not in known:
            whole = [each for each in known if "." not in each]
            raise SpecError(f"schema: no type '{name}'", nearest(name, known) or f"types: {', '.join(whole)}")
        data = msgspec.json.format(msgspec.json.encode(json_schema(known[name])), indent=2)
        sys.stdout.write(data.decode() + "\n")
        return 0
