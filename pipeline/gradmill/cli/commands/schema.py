"""`gradmill schema TYPE`: the JSON Schema of a spec file, of the manifest, or of what a command prints."""

from __future__ import annotations

import sys
from typing import Any

from gradmill.builds.worker.messages import WorkRequest, WorkResponse
from gradmill.cli.commands.families import FamilyRow
from gradmill.cli.commands.list import Listed
from gradmill.cli.commands.report import json_text
from gradmill.cli.commands.request import Request
from gradmill.doors import loaded
from gradmill.problems.catalog.rule import Rule
from gradmill.problems.problem import SpecError, nearest
from gradmill.reports.coverage import Coverage
from gradmill.reports.explain import Edit, Explanation
from gradmill.reports.json_schemas import DERIVATIVES, DIFF_OF_CODE, json_schema, types
from gradmill.reports.origin.lines import Line
from gradmill.reports.spec_schemas import FILES, spec_schema
from gradmill.stages.set import release
from gradmill.stages.tags import tags

# What commands print, by the name of its kind; other kinds are in `reports/json_schemas.py`.
PRINTED: dict[str, Any] = {
    "coverage": Coverage,
    "work-request": WorkRequest,
    "work-response": WorkResponse,
    "explain": [Explanation, Line, Edit],
    "families": list[FamilyRow],
    "list": list[Listed],
    "rule": list[Rule],
    **{name: kind for more in loaded("printed") for name, kind in more.items()},
}


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
