"""Problems as SARIF 2.1.0, the OASIS standard for results of static analysis: the log of one run."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import msgspec

from gradmill import __version__
from gradmill.problems.catalog.table import RULES
from gradmill.problems.machines import near
from gradmill.problems.plain import json_text
from gradmill.problems.report import Placed, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"  # the base of relative paths: the working directory


def sarif(report: Report) -> str:
    """The log; its list of results is empty if there is no problem."""
    rules = sorted({placed.rule for placed in report.placed})
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "gradmill", "version": __version__, "rules": list(map(_described, rules))}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not report.failed, **_notifications(report)}],
        "results": [_result(report.level(placed.problem), placed, rules) for placed in report.placed],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(msgspec.json.format(msgspec.json.encode(log), indent=2))


def _notifications(report: Report) -> dict[str, Any]:
    notes = [{"level": "warning", "message": {"text": note}} for note in report.notes]
    return {"toolConfigurationNotifications": notes} if notes else {}


def _described(name: str) -> dict[str, Any]:
    rule = RULES.get(name)
    if rule is None:
        return {"id": name}
    examples = f"Bad:\n\n{rule.bad}\n\nGood:\n\n{rule.good}"
    return {"id": name, "fullDescription": {"text": rule.meaning}, "help": {"text": f"{rule.meaning}\n\n{examples}"}}


def _result(level: str, placed: Placed, rules: list[str]) -> dict[str, Any]:
    place, problem = placed.place, placed.problem
    rule = placed.rule
    result: dict[str, Any] = {"ruleId": rule, "ruleIndex": rules.index(rule), "level": level}
    result["message"] = {"text": "\n".join(filter(None, (placed.message, problem.hint)))}
    file = _artifact(place.file)
    region = {"startLine": place.line, "startColumn": max(place.column, 1)} if place.line else {}
    result["locations"] = [{"physicalLocation": {"artifactLocation": file, **({"region": region} if region else {})}}]
    if problem.fix and region:
        wrong, right = problem.fix
        end = {"endLine": place.line, "endColumn": region["startColumn"] + len(wrong)}
        change = {"deletedRegion": {**region, **end}, "insertedContent": {"text": right}}
        result["fixes"] = [{"artifactChanges": [{"artifactLocation": file, "replacements": [change]}]}]
    return result


def _artifact(path: str) -> dict[str, str]:
    """The URI of a file, relative to the root if the file is inside it."""
    relative = near(path)
    if not os.path.isabs(relative) and not relative.startswith(os.pardir):
        return {"uri": quote(relative), "uriBaseId": ROOT}
    return {"uri": "file://" + quote(PurePath(os.path.abspath(path)).as_posix())}
