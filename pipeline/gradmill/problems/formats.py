"""The formats of problem reports."""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.problems.locate import Sources
from gradmill.problems.problem import Problem
from gradmill.problems.report import Report, report_of

FORMATS = ("text", "json", "github", "sarif")


def write_report(
    format_: str, problems: Iterable[Problem], sources: Sources, *, strict: bool, notes: str = "", doubt: str = ""
) -> str:
    """The report in one of the `FORMATS`. JSON and SARIF give a document even without problems. Text has the `doubt`
    about all problems at its end, and no `notes`."""
    if format_ == "text":
        from gradmill.problems.render import MAX_SHOWN, render

        return render(report_of(problems, sources, strict=strict, most=MAX_SHOWN, notes=[doubt]))
    return written(format_, report_of(problems, sources, strict=strict, notes=[notes, doubt]))


def written(format_: str, report: Report) -> str:
    """A report in one of the formats for programs."""
    if format_ == "sarif":
        from gradmill.problems.sarif import sarif

        return sarif(report)
    from gradmill.problems import machines

    return machines.json(report) if format_ == "json" else machines.github(report)
