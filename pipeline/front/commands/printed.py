"""The types of the JSON that commands print, for `schema`: a name for each kind of document.

Those of `show`, of problems, of `diff` and of the manifest are in `reports/json_schemas.py`.
"""

from __future__ import annotations

from typing import Any

from pipeline.front.commands.list import Listed
from pipeline.front.worker.messages import WorkRequest, WorkResponse
from pipeline.problems.catalog.rule import Rule
from pipeline.reports.coverage import Coverage
from pipeline.reports.explain import Edit, Explanation
from pipeline.reports.origin.lines import Line
from pipeline.verify.report import Report

PRINTED: dict[str, Any] = {
    "coverage": Coverage,
    "verify": Report,
    "work-request": WorkRequest,
    "work-response": WorkResponse,
    "explain": [Explanation, Line, Edit],
    "list": list[Listed],
    "rule": list[Rule],
}
