"""The types of the JSON that commands print, for `schema`: a name for each kind of document.

Those of `show`, of problems, of `diff` and of the manifest are in `reports/json_schemas.py`.
"""

from __future__ import annotations

from typing import Any

from gradmill.builds.worker.messages import WorkRequest, WorkResponse
from gradmill.cli.commands.list import Listed
from gradmill.problems.catalog.rule import Rule
from gradmill.reports.coverage import Coverage
from gradmill.reports.explain import Edit, Explanation
from gradmill.reports.origin.lines import Line
from gradmill.session.extensions import loaded

PRINTED: dict[str, Any] = {
    "coverage": Coverage,
    "work-request": WorkRequest,
    "work-response": WorkResponse,
    "explain": [Explanation, Line, Edit],
    "list": list[Listed],
    "rule": list[Rule],
    **{name: kind for types in loaded("printed") for name, kind in types.items()},
}
