"""The formats of problem reports, and the one for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.problems.locate import Sources
from gradmill.problems.plain import line, lines
from gradmill.problems.problem import Problem
from gradmill.problems.report import Placed, Report, report_of

FORMATS = ("text", "json", "github", "sarif")
MAX_SHOWN = 100  # problems; a longer report repeats the same error


def write_report(
    format_: str, problems: Iterable[Problem], sources: Sources, *, strict: bool, notes: str = "", doubt: str = ""
) -> str:
    """The report in one of the `FORMATS`. JSON and SARIF give a document even without problems. Text has the `doubt`
    about all problems at its end, and no `notes`."""
    if format_ == "text":
        return render(report_of(problems, sources, strict=strict, most=MAX_SHOWN, notes=[doubt]))
    return written(format_, report_of(problems, sources, strict=strict, notes=[notes, doubt]))


def written(format_: str, report: Report) -> str:
    """A report in one of the formats for programs."""
    if format_ == "sarif":
        from gradmill.problems.sarif import sarif

        return sarif(report)
    from gradmill.problems import machines

    return machines.json(report) if format_ == "json" else machines.github(report)


def render(report: Report) -> str:
    """The report as text in the order of the files: place, op, field, problem, source line and hint, then the counts
    and the notes; "" if there is no problem."""
    if not report.errors and not report.warnings:
        return ""
    text = "".join(map(_render, report.placed))
    counted = ((report.errors, "error"), (report.warnings, "warning"))
    counts = [f"{n} {what}{'s' if n > 1 else ''}" for n, what in counted if n]
    note = " (strict=1: warnings are errors)" if report.strict and report.warnings else ""
    note += f", of which these are {MAX_SHOWN}" if report.errors + report.warnings > MAX_SHOWN else ""
    return f"{text}{' and '.join(counts)}{note}\n{lines(report.notes)}"


def _render(placed: Placed) -> str:
    place, problem = placed.place, placed.problem
    source = place.shown
    where = place.file if not place.line else f"{place.file}:{place.line}:{max(place.column, 1)}"
    output = [f"{where}: {'warning' if problem.warning else 'error'}: {placed.titled}"]
    if source:
        number = f"{place.line:>6}"
        output += [f"{number} | {source[:300]}"]
        if place.column <= 300:
            indent = "".join("\t" if c == "\t" else " " for c in line(source[: max(place.column, 1) - 1]))
            output += [f"{' ' * len(number)} | {indent}^"]
    if problem.hint:
        output.append(f"  hint: {problem.hint}")
    return lines(output)
