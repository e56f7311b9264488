"""`doit diff specs=A against=B`: what changed in autograd from B to A."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
from doit import doit_cmd

from pipeline.build.engine import Build, state_path
from pipeline.build.ensure import ensure_analysis
from pipeline.build.state import StateDB
from pipeline.build.step import Failed
from pipeline.front.commands.command import BuildCommand
from pipeline.front.commands.output import format_option, output_option, write_output
from pipeline.front.config import read_against
from pipeline.problems.problem import SpecError
from pipeline.reports.diff.model import Report


class Diff(BuildCommand):
    """Compares the derivatives of two spec sets."""

    name = "diff"
    doc_purpose = "tell what changed in autograd between two spec sets or releases"
    doc_usage = "against=SET [against_release=X.Y.Z] [specs=SET …]"
    doc_description = (
        "From the set that `against` names to the one that `specs` names, operator by operator: added, removed,"
        " renumbered, formulas, forward derivatives, saved variables. Both may be core, torch, a folder or a wheel."
    )
    cmd_options = (format_option("text", "json", "html"), output_option())

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        if arguments:
            raise SpecError(f"diff: '{arguments[0]}' is not expected here", "say doit diff specs=SET against=SET")
        against = _against(doit_cmd._CMDLINE_VARS or {})
        try:
            ensure_analysis(against)
        except Failed as failed:
            from pipeline.diagnose import report_problems

            sys.stderr.write(report_problems(against, failed))
            return 1
        ensure_analysis(build)
        write_output(_rendered(against, build, options["format"]), options["output"])
        return 0


def _against(variables: dict[str, str]) -> Build:
    """The build of the other side. The same set may be read as two releases: its state is not shared."""
    config = read_against(variables)
    if config.warning:
        sys.stderr.write(f"warning: {config.warning}\n")
    return Build(config, StateDB(state_path(config)))


def _rendered(before: Build, after: Build, format_: str) -> bytes:
    from pipeline.reports.diff.compare import compare
    from pipeline.reports.diff.facts import read_autograd

    return render(compare(read_autograd(before), read_autograd(after)), format_)


def render(report: Report, format_: str) -> bytes:
    """The report in one of the three formats."""
    if format_ == "json":
        return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"
    if format_ == "html":
        from pipeline.reports.diff import html

        return html.render(report).encode()
    from pipeline.reports.diff import text

    return text.render(report).encode()
