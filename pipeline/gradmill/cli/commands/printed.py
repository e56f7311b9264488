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
from gradmill.verify.report import Report

PRINTED: dict[str, Any] = {
    "coverage": Coverage,
    "verify": Report,
    "work-request": WorkRequest,
    "work-response": WorkResponse,
    "explain": [Explanation, Line, Edit],
    "list": list[Listed],
    "rule": list[Rule],
}
