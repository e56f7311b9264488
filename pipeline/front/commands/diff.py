"""`doit diff specs=A against=B`: what changed in autograd from B to A."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Any

from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.commands.report import format_of, format_option, json_text, output_option, write_output
from pipeline.front.run.build import Build
from pipeline.front.settings.config import read_against
from pipeline.reports.diff.entries import COMPARED
from pipeline.reports.diff.facts import Autograd, read_autograd
from pipeline.reports.diff.model import Report
from pipeline.stages.units import families as generated


class Diff(BuildCommand):
    """Compares the derivatives of two spec sets."""

    name = "diff"
    of_set = False  # it reads two sets, which may have the same name
    doc_purpose = "report what changed in autograd between two spec sets or releases"
    doc_usage = "against=SET [against_release=X.Y.Z] [specs=SET …]"
    doc_description = (
        "Compares the set in `against` (before) with the set in `specs` (after), operator by operator: added, removed,"
        " renumbered, formulas, forward derivatives, saved variables. With families=bindings also the signatures of the"
        " Python bindings, with annotated_args the required arguments, with lazy the functions of the lazy backend."
        " Both may be core, torch, a folder or a wheel."
    )
    cmd_options = (format_option("text", "json", "html"), output_option())

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        self.expect_none(arguments, "doit diff specs=SET against=SET")
        with closing(_against(self.variables())) as against:
            before = _facts(against)
        report = render(_compared(before, _facts(build)), format_of(options, build))
        write_output(build, report, options["output"])
        return 0


def _against(variables: dict[str, str]) -> Build:
    """The build of the set to compare with."""
    config = read_against(variables, "families")
    sys.stderr.write(config.release_warning)
    return Build(config)


def _facts(build: Build) -> Autograd:
    """The facts of one side, read completely before the other side opens: both may share one store."""
    families = generated(build.db)
    checks = [each.check for each in COMPARED if each.check is not None and each.family in families]
    check(build, [build.stages.root("match"), *((query, *key) for query, key in checks)])
    facts = read_autograd(build.db, build.config.specs.version, families)
    keep(build)
    return facts


def _compared(before: Autograd, after: Autograd) -> Report:
    from pipeline.reports.diff.compare import compare

    return compare(before, after)


def render(report: Report, format_: str) -> bytes:
    """The report as text, JSON or HTML, UTF-8 encoded."""
    if format_ == "json":
        return json_text(report)
    if format_ == "html":
        from pipeline.reports.diff import html

        return html.render(report).encode()
    from pipeline.reports.diff import text

    return text.render(report).encode()
