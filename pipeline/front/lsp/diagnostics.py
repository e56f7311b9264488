"""Problems as an editor shows them, file by file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from lsprotocol import types

from pipeline.front.lsp.buffers import Text
from pipeline.problems.problem import SpecError
from pipeline.problems.report import Placed, Report

_WORD = re.compile(r"\w+|\S")
_LEVELS = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
_NO_SET = "this file is part of no spec set: name one, gradmill lsp specs=…"
SOURCE = "gradmill"


def by_file(report: Report, text: Callable[[str], Text], encoding: str) -> dict[str, list[types.Diagnostic]]:
    """What there is to show in each file, by path. `text` gives a file as it is."""
    found: dict[str, list[types.Diagnostic]] = {}
    for placed in report.placed:
        path = os.path.realpath(placed.place.file)
        found.setdefault(path, []).append(_diagnostic(placed, report, text(path), encoding))
    return found


def _diagnostic(placed: Placed, report: Report, text: Text, encoding: str) -> types.Diagnostic:
    problem, place = placed.problem, placed.place
    line = max(place.line - 1, 0)
    start, end = span(text.line(line), max(place.column - 1, 0))
    message = placed.message + (f"\nhint: {problem.hint}" if problem.hint else "")
    return types.Diagnostic(
        text.range(line, start, end, encoding),
        message,
        severity=_LEVELS[report.level(problem)],
        source=SOURCE,
        code=problem.rule or None,
        data=list(problem.fix) if problem.fix else None,
    )


def is_certain(found: types.Diagnostic) -> bool:
    """Whether it is certain what mends a mistake."""
    return found.source == SOURCE and isinstance(found.data, list) and len(found.data) == 2


def fix(found: types.Diagnostic) -> tuple[str, types.TextEdit]:
    """What mends a mistake, and what that is called. Names are ASCII: as long as the editor counts."""
    wrong, right = found.data  # type: ignore[misc]
    start = found.range.start
    place = types.Range(start, types.Position(start.line, start.character + len(wrong)))
    return f"Write '{right}' for '{wrong}'", types.TextEdit(place, right)


def span(line: str, column: int) -> tuple[int, int]:
    """From a column to the end of the word there; one character at least, where the line has one."""
    column = min(column, len(line))
    match = _WORD.match(line, column)
    return column, match.end() if match is not None else min(column + 1, len(line))


def outside(mistake: SpecError | None) -> types.Diagnostic:
    """What is shown in a file that is part of no spec set, for a mistake where there is one."""
    start = types.Position(0, 0)
    if mistake is None:
        why, severity = _NO_SET, types.DiagnosticSeverity.Information
    else:
        why, severity = f"{mistake.problem}\nhint: {mistake.hint}", types.DiagnosticSeverity.Error
    return types.Diagnostic(types.Range(start, start), why, severity=severity, source=SOURCE)
