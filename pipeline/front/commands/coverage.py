"""`doit coverage`: forward derivatives, `not_implemented` and saved variables, counted and listed."""

from __future__ import annotations

from typing import Any

from pipeline.front.commands.bases import option
from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.commands.report import OUTPUT, format_of, format_option, json_text, write_output

_KINDS = (
    ("no-forward", "Nodes without a forward derivative"),
    ("not-implemented", "Nodes with a gradient that only raises an error"),
    ("saves-input", "Nodes that save an input tensor"),
    ("saves-output", "Nodes that save an output tensor"),
    ("saves-nothing", "Nodes that save nothing"),
)


class Coverage(BuildCommand):
    """Reports which functions of a spec set have derivatives, and what their Nodes save."""

    name = "coverage"
    doc_purpose = "report which functions have a forward derivative, what is not implemented, what Nodes save"
    doc_usage = "[NAME …] [--only=KIND] [specs=SET …] [format=json]"
    doc_description = (
        "Prints totals and a line for every Node; with NAMEs (operators or Nodes), only for these, and with --only"
        " for those of a kind. Stages are brought up to date first."
    )
    cmd_options = (format_option("text", "json"), option("only", "only these Nodes", choices=_KINDS), OUTPUT)

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.reports import coverage, coverage_text

        check(self.build, [self.build.stages.root("match")])
        measured = coverage.measure(self.build.db, arguments, options["only"])
        as_json = format_of(options, self.build) == "json"
        report = json_text(measured) if as_json else coverage_text.render(measured).encode()
        write_output(self.build, report, options["output"])
        keep(self.build)
        return 0
