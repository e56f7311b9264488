"""Problems for other programs: as one line of JSON, and as the commands that GitHub's runners look for in a log.

The commands are those of GitHub's "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import os
from pathlib import PurePath

import msgspec
from msgspec import Struct

from pipeline.problems.plain import escaped, json_text, line
from pipeline.problems.report import Placed, Report


class Fix(Struct, frozen=True):
    """What to write at the place of a problem, where that is certain."""

    replace: str
    by: str


class Found(Struct, frozen=True):
    """One problem. Lines and columns count from 1; 0 stands for the file as a whole."""

    file: str
    line: int
    column: int
    severity: str  # error or warning, whatever strict= says
    rule: str
    op: str
    field: tuple[str, ...]  # the keys in the entry that lead to it
    problem: str
    hint: str
    fix: Fix | None


class Findings(Struct, frozen=True):
    """All problems of a run."""

    version: int  # of this form
    failed: bool  # whether the run stops at them
    errors: int
    warnings: int
    problems: tuple[Found, ...]
    notes: tuple[str, ...]


VERSION = 1


def json(report: Report) -> str:
    """A `Findings` as JSON, on one line."""
    found = tuple(map(_found, report.placed))
    findings = Findings(VERSION, report.failed, report.errors, report.warnings, found, report.notes)
    return json_text(msgspec.json.encode(findings))


def _found(placed: Placed) -> Found:
    place, problem = placed.place, placed.problem
    return Found(
        place.file,
        place.line,
        place.column if not place.line else max(place.column, 1),
        "warning" if problem.warning else "error",
        problem.rule or problem.role,
        problem.op,
        problem.field,
        problem.problem,
        problem.hint,
        Fix(*problem.fix) if problem.fix else None,
    )


def github(report: Report) -> str:
    """A line for each problem; "" where there is none."""
    found = (_command(report.level(placed.problem), placed) for placed in report.placed)
    return "".join((*found, *(f"::notice::{_data(line(note))}\n" for note in report.notes)))


def _command(level: str, placed: Placed) -> str:
    place, problem = placed.place, placed.problem
    properties = {"file": near(place.file), "title": line(problem.op or problem.rule or problem.role)}
    if place.line:
        properties |= {"line": str(place.line), "col": str(max(place.column, 1))}
    message = "\n".join(map(line, filter(None, (placed.message, problem.hint and f"hint: {problem.hint}"))))
    return (
        f"::{level} {','.join(f'{name}={_property(value)}' for name, value in properties.items())}::{_data(message)}\n"
    )


def near(path: str) -> str:
    """A path relative to the folder that this runs in, where it is below that; with slashes."""
    found = os.path.relpath(path)
    return PurePath(path if found.startswith(os.pardir) else found).as_posix()


def _data(text: str) -> str:
    found = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped(found)  # what has no escape of the runner's own


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
