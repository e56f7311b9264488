"""Converts problems to an editor's diagnostics, file by file."""

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
_NO_SET = "this file is part of no spec set: name its set with gradmill lsp specs=…"
SOURCE = "gradmill"


def by_file(report: Report, text: Callable[[str], Text], encoding: str) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of each file, by real path. `text` returns the current text of a file."""
    diagnostics: dict[str, list[types.Diagnostic]] = {}
    for placed in report.placed:
        path = os.path.realpath(placed.place.file)
        diagnostics.setdefault(path, []).append(_diagnostic(placed, report, text(path), encoding))
    return diagnostics


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


def is_certain(diagnostic: types.Diagnostic) -> bool:
    """Whether a diagnostic has a certain fix."""
    return diagnostic.source == SOURCE and isinstance(diagnostic.data, list) and len(diagnostic.data) == 2


def fix(diagnostic: types.Diagnostic) -> tuple[str, types.TextEdit]:
    """The title and the edit of a certain fix. Names are ASCII, so their lengths are the same in the editor's units."""
    wrong, right = diagnostic.data  # type: ignore[misc]
    start = diagnostic.range.start
    place = types.Range(start, types.Position(start.line, start.character + len(wrong)))
    return f"Write '{right}' for '{wrong}'", types.TextEdit(place, right)


def span(line: str, column: int) -> tuple[int, int]:
    """The columns from `column` to the end of its word, or of one character; empty at the end of the line."""
    column = min(column, len(line))
    match = _WORD.match(line, column)
    return column, match.end() if match is not None else min(column + 1, len(line))


def outside(error: SpecError | None) -> types.Diagnostic:
    """The diagnostic of a file in no spec set. `error`: why its set cannot be read, if there is one."""
    start = types.Position(0, 0)
    if error is None:
        why, severity = _NO_SET, types.DiagnosticSeverity.Information
    else:
        why, severity = f"{error.problem}\nhint: {error.hint}", types.DiagnosticSeverity.Error
    return types.Diagnostic(types.Range(start, start), why, severity=severity, source=SOURCE)
