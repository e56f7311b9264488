"""`doit coverage`: forward derivatives, `not_implemented` and saved variables, counted and listed."""

from __future__ import annotations

from typing import Any

import msgspec

from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.commands.output import format_option, output_option, write_output
from pipeline.front.run.build import Build
from pipeline.problems.problem import SpecError


class Coverage(BuildCommand):
    """Reports how far a spec set's derivatives reach."""

    name = "coverage"
    doc_purpose = "report which functions have a forward derivative, what is not implemented, what Nodes save"
    doc_usage = "[specs=SET …]"
    doc_description = "Totals and a line for every Node. Stages are brought up to date first."
    cmd_options = (format_option("text", "json"), output_option())

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.reports import coverage, coverage_text

        if arguments:
            raise SpecError(f"coverage: '{arguments[0]}' is not expected here", "say doit coverage [specs=SET]")
        check(build, [build.root("match")])
        measured = coverage.measure(build.db)
        if options["format"] == "json":
            data = msgspec.json.format(msgspec.json.encode(measured), indent=2) + b"\n"
        else:
            data = coverage_text.render(measured).encode()
        write_output(data, options["output"])
        keep(build)
        return 0
