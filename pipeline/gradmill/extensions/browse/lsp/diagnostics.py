"""Converts problems to an editor's diagnostics, file by file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from lsprotocol import types

from gradmill.extensions.browse.lsp.buffers import Text
from gradmill.problems.catalog.table import RULES
from gradmill.problems.problem import Problem, SpecError
from gradmill.problems.report import Placed, Report
from gradmill.session.fixes import Fix, certain, refusal
from gradmill.session.settings.config import Config
from gradmill.specs.spec_set import ROLES

_WORD = re.compile(r"\w+|\S")
_LEVELS = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
_NO_SET = "this file is part of no spec set: name its set with gradmill lsp specs=…"
SOURCE = "gradmill"


def by_file(
    report: Report, text: Callable[[str], Text], encoding: str, config: Config
) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of each file, by real path. `text` returns the current text of a file. The data of a diagnostic
    are what an editor may do about it."""
    fixes = {id(placed): fix for placed, fix in certain(report) if not refusal(config, fix.file)}
    diagnostics: dict[str, list[types.Diagnostic]] = {}
    for placed in report.placed:
        path = os.path.realpath(placed.place.file)
        shown = _diagnostic(placed, report, text(path), encoding, fixes.get(id(placed)))
        diagnostics.setdefault(path, []).append(shown)
    return diagnostics


def _diagnostic(placed: Placed, report: Report, text: Text, encoding: str, fix: Fix | None) -> types.Diagnostic:
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
        data=_data(problem, fix),
    )


def _data(problem: Problem, fix: Fix | None) -> dict[str, object] | None:
    """What an editor may do about a problem: `fix`, the place and the text that is wrong and the right one; `silence`,
    the rule of a warning that a comment silences."""
    silenced = problem.warning and problem.entry and problem.role in ROLES and problem.rule in RULES
    data: dict[str, object] = {"fix": [fix.line, fix.column, fix.wrong, fix.right]} if fix is not None else {}
    return data | ({"silence": problem.rule} if silenced else {}) or None


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
