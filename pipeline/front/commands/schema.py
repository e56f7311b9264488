"""`doit schema TYPE`: the JSON Schema of a spec file, of the manifest or of a stage's artifacts."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.front.commands.command import BuildCommand
from pipeline.front.commands.report import json_text
from pipeline.problems.problem import SpecError, nearest


class Schema(BuildCommand):
    """Prints a JSON Schema, generated from the data types."""

    name = "schema"
    of_set = False
    doc_purpose = "print the JSON Schema of a spec file, of the manifest, or of what a command prints"
    doc_usage = "TYPE"
    doc_description = (
        "TYPE is derivatives or native_functions for the YAML files; manifest; specset for descriptions; problems for"
        " the reports of check and of a run with format=json; coverage, diff, dumpdb, explain, list or rule for what"
        " the command prints as JSON, diff.code for diff --code, and run for -r json; work-request and work-response"
        " for what a worker reads and writes; a stage for one line of its show output (derivatives.row for"
        " the stage derivatives); or one of the queries of a stage: infos.targets, derivatives.definitions."
    )

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        from pipeline.reports.editor.spec_schemas import FILES

        self.names_set = pos_args[:1] != [] and pos_args[0] in FILES  # these have the set's tags
        return super().execute(opt_values, pos_args)

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.front.commands.printed import PRINTED
        from pipeline.reports.editor.spec_schemas import FILES, spec_schema
        from pipeline.reports.json_schemas import DERIVATIVES, DIFF_OF_CODE, json_schema, types
        from pipeline.stages.set import release
        from pipeline.stages.tags import tags

        known = {**PRINTED, **types()}
        name = " ".join(arguments)
        if name in FILES:
            return _print(spec_schema(name, release(self.build.db), tags(self.build.db)))
        if name not in known:
            named = (each for each in known if "." not in each or each in (DERIVATIVES, DIFF_OF_CODE))
            problem = f"schema: no type '{name}'" if name else "schema: name a type"
            raise SpecError(problem, nearest(name, [*FILES, *known]) or f"types: {', '.join((*FILES, *named))}")
        return _print(json_schema(known[name]))


def _print(schema: dict[str, Any]) -> int:
    sys.stdout.write(json_text(schema).decode())
    return 0
