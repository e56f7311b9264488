"""Problems for other programs: one line of JSON, and workflow commands for GitHub's runners.

The commands are documented in GitHub's "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import os
from pathlib import PurePath

import msgspec
from msgspec import Struct

from gradmill.problems.plain import escaped, json_text, line
from gradmill.problems.report import Placed, Report


class Fix(Struct, frozen=True):
    """The text to write at the place of a problem. A problem has a fix only if it is certain."""

    replace: str
    by: str


class Finding(Struct, frozen=True):
    """One problem. Lines and columns count from 1; 0 means the whole file."""

    file: str
    line: int
    column: int
    severity: str  # error or warning; strict= does not change it
    rule: str  # of a warning, a name that the command `rule` explains; of most errors, the role of the file
    op: str
    field: tuple[str, ...]  # the path of keys inside the entry
    problem: str
    hint: str
    fix: Fix | None


class Findings(Struct, frozen=True):
    """All problems of a run."""

    version: int  # of this format
    failed: bool  # whether the problems stop the run
    errors: int
    warnings: int
    problems: tuple[Finding, ...]
    notes: tuple[str, ...]


VERSION = 1


def json(report: Report) -> str:
    """A `Findings` as JSON, on one line."""
    problems = tuple(map(_finding, report.placed))
    findings = Findings(VERSION, report.failed, report.errors, report.warnings, problems, report.notes)
    return json_text(msgspec.json.encode(findings))


def _finding(placed: Placed) -> Finding:
    place, problem = placed.place, placed.problem
    return Finding(
        file=place.file,
        line=place.line,
        column=place.column if not place.line else max(place.column, 1),
        severity="warning" if problem.warning else "error",
        rule=placed.rule,
        op=problem.op,
        field=problem.field,
        problem=problem.problem,
        hint=problem.hint,
        fix=Fix(*problem.fix) if problem.fix else None,
    )


def github(report: Report) -> str:
    """A workflow command for each problem and each note; "" if there are none."""
    commands = (_command(report.level(placed.problem), placed) for placed in report.placed)
    return "".join((*commands, *(f"::notice::{_data(line(note))}\n" for note in report.notes)))


def _command(level: str, placed: Placed) -> str:
    place, problem = placed.place, placed.problem
    properties = {"file": near(place.file), "title": line(problem.op or placed.rule)}
    if place.line:
        properties |= {"line": str(place.line), "col": str(max(place.column, 1))}
    message = "\n".join(map(line, filter(None, (placed.titled, problem.hint and f"hint: {problem.hint}"))))
    return (
        f"::{level} {','.join(f'{name}={_property(value)}' for name, value in properties.items())}::{_data(message)}\n"
    )


def near(path: str) -> str:
    """The path with slashes; relative to the working directory if the file is inside it."""
    relative = os.path.relpath(path)
    return PurePath(path if relative.startswith(os.pardir) else relative).as_posix()


def _data(text: str) -> str:
    data = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped(data)  # the runner has no escapes for other control characters


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
