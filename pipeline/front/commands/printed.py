"""The types of the JSON that commands print, for `schema`: a name for each kind of document.

Those of `show`, of problems, of `diff` and of the manifest are in `reports/json_schemas.py`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from pipeline.front.commands.list import Listed
from pipeline.front.run.notes import Notes
from pipeline.front.worker.messages import WorkRequest, WorkResponse
from pipeline.problems.catalog.rule import Rule
from pipeline.reports.coverage import Coverage
from pipeline.reports.explain import Edit, Explanation
from pipeline.reports.origin.lines import Line
from pipeline.verify.report import Report


class TaskReport(Struct, frozen=True):
    """A task in the report of a run."""

    name: str
    result: str | None  # success, fail, up-to-date, ignore; null if it was not executed
    out: str | None
    err: str | None
    error: str | None
    started: str | None  # the time, in UTC
    elapsed: float | None  # seconds


class RunReport(Struct, frozen=True):
    """What `-r json` prints about a run."""

    tasks: tuple[TaskReport, ...]
    out: str  # what was written to standard output and standard error
    err: str


PRINTED: dict[str, Any] = {
    "coverage": Coverage,
    "dumpdb": Notes,
    "run": RunReport,
    "verify": Report,
    "work-request": WorkRequest,
    "work-response": WorkResponse,
    "explain": [Explanation, Line, Edit],
    "list": list[Listed],
    "rule": list[Rule],
}
