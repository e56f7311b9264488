"""`gradmill verify`: compiles formulas, and compares their derivatives with finite differences."""

from __future__ import annotations

import sys
import time
from typing import Any

from msgspec.structs import replace

from pipeline.front.commands.bases import option
from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.commands.report import OUTPUT, format_of, format_option, json_text, write_output
from pipeline.front.console import print_report
from pipeline.front.run.verification import settings_of


class Verify(BuildCommand):
    """Verifies formulas with the installed torch. Results are kept in the set's folder of the cache."""

    name = "verify"
    doc_purpose = "check derivative formulas numerically, with the installed torch"
    doc_usage = "[NAME …] [specs=SET …] [helpers=FILE.cpp] [python=FILE.py] [format=json|github|sarif]"
    doc_description = (
        "Compiles the formulas of operators or Nodes (NAME), and without names of all that changed since they were last"
        " verified; runs them on samples, and compares gradients, tangents and second derivatives with finite"
        " differences, and gradients with those of torch's own formulas. Prints what is wrong at its formula, with the"
        " input, and what cannot be checked. The exit status is 1 if a derivative is wrong; with strict=1 also if one"
        " differs from torch's own, is wrong as torch's own is, or is not checked."
    )
    cmd_options = (format_option("json"), option("samples", "samples of each kind (8)", 0), OUTPUT)

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.front.run.silences import silenced_findings
        from pipeline.front.run.sources import Sources
        from pipeline.problems.formats import write_report
        from pipeline.verify import report
        from pipeline.verify.run import chosen, verify
        from pipeline.verify.subjects import codes

        start = time.monotonic()
        build, config = self.build, self.build.config
        check(build, [build.stages.root("match")])
        settings = settings_of(build)
        settings = replace(settings, limit=options["samples"] or settings.limit)
        result = verify(chosen(list(codes(build.db, arguments)), arguments), settings)
        keep(build)
        seconds = time.monotonic() - start
        problems = silenced_findings(build.db, list(report.problems(result)))
        shared = any(verdict.wrong_as_torchs for _, verdict in result.verdicts)
        failed = (config.strict and shared) or any(config.strict or not problem.warning for problem in problems)
        if format_of(options, build) == "json":
            write_output(build, json_text(report.report(result, seconds)), options["output"])
            return int(failed)
        if config.format == "text":
            problems = [problem for problem in problems if problem.rule != report.UNCHECKED]
        written = write_report(config.format, problems, Sources(config, build.db), strict=config.strict)
        print_report(written, config.format, sys.stdout)
        if config.format == "text":
            few = bool(arguments) or len(result.verdicts) <= 5
            write_output(build, report.text(result, seconds, details=few).encode(), options["output"])
        return int(failed)
