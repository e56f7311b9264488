"""`gradmill schema TYPE`: the JSON Schema of a spec file, of the manifest or of a stage's artifacts."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.front.commands.printed import PRINTED
from pipeline.front.commands.report import json_text
from pipeline.front.commands.request import Request
from pipeline.problems.problem import SpecError, nearest
from pipeline.reports.editor.spec_schemas import FILES, spec_schema
from pipeline.reports.json_schemas import DERIVATIVES, DIFF_OF_CODE, json_schema, types
from pipeline.stages.set import release
from pipeline.stages.tags import tags


def main(request: Request) -> int:
    """Prints a JSON Schema, generated from the data types."""
    known = {**PRINTED, **types()}
    name = " ".join(request.names)
    if name in FILES:  # these have the set's tags
        with request.open() as session:
            return _print(spec_schema(name, release(session.db), tags(session.db)))
    if name not in known:
        named = (each for each in known if "." not in each or each in (DERIVATIVES, DIFF_OF_CODE))
        problem = f"schema: no type '{name}'" if name else "schema: name a type"
        raise SpecError(problem, nearest(name, [*FILES, *known]) or f"types: {', '.join((*FILES, *named))}")
    return _print(json_schema(known[name]))


def _print(schema: dict[str, Any]) -> int:
    sys.stdout.write(json_text(schema).decode())
    return 0
