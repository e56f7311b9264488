"""Problems as text for a terminal."""

from __future__ import annotations

from pipeline.problems.plain import line, lines
from pipeline.problems.report import Placed, Report

MAX_SHOWN = 100  # problems; who has more has made one mistake many times


def render(report: Report) -> str:
    """All problems as text, in the order of the files: place, op, field, what is wrong, the line, what to do; "" where
    there is none."""
    if not report.errors and not report.warnings:
        return ""
    text = "".join(map(_render, report.placed))
    counted = ((report.errors, "error"), (report.warnings, "warning"))
    counts = [f"{n} {what}{'s' if n > 1 else ''}" for n, what in counted if n]
    note = " (strict=1: warnings are errors)" if report.strict and report.warnings else ""
    note += f", of which these are {MAX_SHOWN}" if report.errors + report.warnings > MAX_SHOWN else ""
    return f"{text}{' and '.join(counts)}{note}\n"


def _render(found: Placed) -> str:
    place, problem = found.place, found.problem
    source = place.shown
    where = place.file if not place.line else f"{place.file}:{place.line}:{max(place.column, 1)}"
    told = [f"{where}: {'warning' if problem.warning else 'error'}: {found.message}"]
    if source:
        number = f"{place.line:>6}"
        told += [f"{number} | {source[:300]}"]
        if place.column <= 300:
            indent = "".join("\t" if c == "\t" else " " for c in line(source[: max(place.column, 1) - 1]))
            told += [f"{' ' * len(number)} | {indent}^"]
    if problem.hint:
        told.append(f"  hint: {problem.hint}")
    return lines(told)
