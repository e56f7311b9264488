"""`doit show STAGE [NAME]`: the rows of a stage as JSON on standard output."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from pipeline.families.bindings.files import BINDINGS
from pipeline.families.nodes.files import NODES
from pipeline.front.commands.command import BuildCommand, check, fail_for, keep
from pipeline.front.run.build import Build
from pipeline.front.run.problems import Problems
from pipeline.front.settings.config import missing_template, read_specs
from pipeline.front.settings.reader import DEFAULT, Settings
from pipeline.problems.problem import Problem, SpecError, nearest


class Show(BuildCommand):
    """Prints the rows of a stage, one JSON object a line."""

    name = "show"
    doc_purpose = "print the rows of a stage as JSON, one object per line"
    doc_usage = "STAGE [NAME] [specs=SET …]"
    doc_description = (
        "STAGE is one of specs, schemas, derivatives, infos, foreach, match, graphs, emit, shard,"
        " differentiability: how autograd handles each function, declarations: what each function is in C++, or"
        " bindings: what Python parses and calls. NAME is an operator, with or without overload, a schema, a Node, a"
        " graph or a file. Stages are brought up to date first; generated files are not touched."
    )

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        self._stage, _, self._rest = (pos_args or [""])[0].partition(":")
        return super().execute(opt_values, pos_args)

    def variables(self) -> Settings:
        """As of other commands. The bindings are shown unless other families are requested."""
        settings = super().variables()
        if self._stage == BINDINGS.name:
            settings.add("families", BINDINGS.name, DEFAULT)
        return settings

    def open(self) -> Build:
        if self._stage == BINDINGS.name:
            _check_template(self.variables())
        return super().open()

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.reports.show import STAGES, rows

        stage = self._stage
        if stage not in STAGES or len(arguments) > 2:
            raise SpecError(
                f"show: no stage '{stage}'" if stage else "show: name a stage",
                nearest(stage, STAGES) or f"stages: {', '.join(STAGES)}",
            )
        if stage == "graphs" and not self.build.config.graphs.root:
            raise SpecError("show: there are no graphs", "write graphs=PATH: a .py or .pt2 file or a folder of them")
        if stage == BINDINGS.name and BINDINGS.name not in self.build.config.families:
            raise SpecError("show: the Python bindings are not requested", f"write families={BINDINGS.name}")
        check(self.build, [self.build.stages.root(STAGES[stage].stage)])
        name = arguments[1] if len(arguments) == 2 else self._rest
        encoder, refused = msgspec.json.Encoder(), list[Problem]()
        for row in rows(self.build.db, self.build.layout, stage, name, refused):
            where = {"path": self.build.path(row["name"])} if stage == "shard" else {}
            sys.stdout.buffer.write(encoder.encode({**where, **row}) + b"\n")
        sys.stdout.flush()
        keep(self.build)
        fail_for(self.build, Problems(self.build.config, self.build.db, refused))
        return 0


def _check_template(variables: dict[str, str]) -> None:
    """Raises a SpecError if the spec set cannot have Python bindings. Other errors of the variables are left to the
    build."""
    try:
        template = missing_template(read_specs(variables), BINDINGS.name)
    except SpecError:
        return
    if template:
        raise SpecError(
            f"show: the spec set has no Python bindings: they need the template {template}",
            f"add it to the set's templates, next to {NODES.templates[0]}, or name a set with it, such as specs=torch",
        )
