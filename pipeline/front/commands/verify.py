"""`gradmill verify`: compiles formulas, and compares their derivatives with finite differences."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pipeline.front.commands.bases import option
from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.commands.other import read_other
from pipeline.front.commands.report import OUTPUT, format_of, format_option, json_text, write_output
from pipeline.front.console import print_report
from pipeline.front.run.build import Build
from pipeline.front.run.revision import has_revision
from pipeline.front.run.verification import deciding, settings_of
from pipeline.front.settings.command_line import known_variables
from pipeline.front.settings.variables import REVISION
from pipeline.problems.problem import SpecError

if TYPE_CHECKING:
    from pipeline.verify.model import Code
    from pipeline.verify.run import Result

_HEAD = f"{REVISION}HEAD"


class Verify(BuildCommand):
    """Verifies formulas with the installed torch. Results are kept in the set's folder of the cache."""

    name = "verify"
    doc_purpose = "check derivative formulas numerically, with the installed torch"
    doc_usage = "[NAME … | --all | against=SET] [specs=SET …] [helpers=FILE.cpp] [python=FILE.py] [format=json|…]"
    doc_description = (
        "Compiles the formulas of operators or Nodes (NAME), runs them on samples, and compares gradients, tangents and"
        " second derivatives with finite differences, and gradients with those of torch's own formulas. Without names,"
        " verifies those that differ from the set in `against`, by default from the last commit of the git repository"
        " around the set; with --all, or without a repository, all of them. What was verified before is not verified"
        " again. Prints what is wrong at its formula, with the input, and what cannot be checked. The exit status is 1"
        " if a derivative is wrong; with strict=1 also if one differs from torch's own, is wrong as torch's own is, or"
        " is not checked."
    )
    cmd_options = (
        option("all", "verify all formulas of the set", default=False),
        format_option("json"),
        option("samples", "samples of each kind (8)", 0),
        option(
            "verbose", "prints each sample, with its checks and the reasons why others were left out", default=False
        ),
        OUTPUT,
    )

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.verify.run import verify

        start = time.monotonic()
        build = self.build
        if options["all"] and (arguments or "against" in known_variables()):
            raise SpecError("verify: --all verifies all formulas", "leave it out, or leave out names and against=")
        check(build, [build.stages.root("match")])
        settings = settings_of(build)
        settings = replace(settings, limit=options["samples"] or settings.limit)
        codes, scope = self._chosen(arguments, everything=options["all"])
        keep(build)
        build.close()  # a run that writes to the cache waits for all readers
        result = verify(codes, settings)
        seconds = time.monotonic() - start
        with closing(self.open()) as self.build:  # the findings are placed in the files as they are now
            return self._report(result, scope, seconds, options, details=bool(arguments) or len(codes) <= 5)

    def _chosen(self, names: Sequence[str], *, everything: bool) -> tuple[list[Code], str]:
        """The formulas to verify; and a line that says how many of all these are, "" for all or those of the names."""
        from pipeline.verify.run import chosen
        from pipeline.verify.subjects import codes

        build, variables = self.build, self.variables()
        own = chosen(list(codes(build.db, names)), names)
        if everything or ("against" not in variables and (names or not has_revision(build.config.specs, "HEAD"))):
            return own, ""
        named = variables.setdefault("against", _HEAD)
        others = read_other(build, variables, _deciding)
        now = deciding(build)
        changed = [code for code in own if now[code.subject.name] != others.get(code.subject.name)]
        hint = "" if changed else "; --all verifies all of them"
        return changed, f"{len(changed) or 'none'} of {len(own)} formulas differ from {named}{hint}\n"

    def _report(self, result: Result, scope: str, seconds: float, options: dict[str, Any], *, details: bool) -> int:
        from pipeline.front.run.silences import silenced_findings
        from pipeline.front.run.sources import Sources
        from pipeline.problems.formats import write_report
        from pipeline.verify import report

        build, config = self.build, self.build.config
        problems = silenced_findings(build.db, list(report.problems(result)))
        shared = any(verdict.wrong_as_torchs for _, verdict in result.verdicts)
        failed = (config.strict and shared) or any(config.strict or not problem.warning for problem in problems)
        if format_of(options, build) == "json":
            write_output(build, json_text(report.report(result, seconds, scope.strip())), options["output"])
            return int(failed)
        if config.format == "text":
            problems = [problem for problem in problems if problem.rule != report.UNCHECKED]
        written = write_report(config.format, problems, Sources(config, build.db), strict=config.strict)
        if config.format != "text":
            write_output(build, written.encode(), options["output"])
            return int(failed)
        print_report(written, config.format, sys.stdout)
        text = report.text(result, seconds, config.release, details=details, verbose=options["verbose"])
        write_output(build, (scope + text).encode(), options["output"])
        return int(failed)


def _deciding(build: Build) -> dict[str, str]:
    """What decides the verdicts on another set's formulas, read completely before the own set goes on."""
    check(build, [build.stages.root("match")])
    digests = deciding(build)
    keep(build)
    return digests
