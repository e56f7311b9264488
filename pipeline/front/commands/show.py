"""`doit show STAGE [NAME]`: an artifact as JSON on standard output."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from pipeline.build.engine import Build
from pipeline.build.ensure import ensure_analysis
from pipeline.front.commands.command import BuildCommand
from pipeline.problems.problem import SpecError, nearest


class Show(BuildCommand):
    """Prints the rows of a stage, one JSON object a line."""

    name = "show"
    doc_purpose = "print the artifact of a stage as JSON, one object a line"
    doc_usage = "STAGE [NAME] [specs=SET …]"
    doc_description = (
        "STAGE is one of specs, schemas, derivatives, infos, foreach, match, emit, shard, or differentiability: what"
        " autograd makes of each function. NAME is an operator, with or without overload, a schema, a Node or a file."
        " Stages are brought up to date first; generated files are not touched."
    )

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.reports.show import STAGES, rows

        stage, _, rest = (arguments or [""])[0].partition(":")
        if stage not in STAGES or len(arguments) > 2:
            raise SpecError(
                f"show: no stage '{stage}'" if stage else "show: name a stage",
                nearest(stage, STAGES) or f"stages: {', '.join(STAGES)}",
            )
        ensure_analysis(build, stage if stage not in ("differentiability", "emit", "shard") else "match")
        name = arguments[1] if len(arguments) == 2 else rest
        encoder = msgspec.json.Encoder()
        for row in rows(build, stage, name):
            sys.stdout.buffer.write(encoder.encode(row) + b"\n")
        sys.stdout.flush()
        return 0
