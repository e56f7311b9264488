"""`doit explain [NAME]`: the dependencies of a result, its dependents, and why it would be rebuilt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipeline.front.commands.command import BuildCommand, check, stage_rows
from pipeline.front.commands.report import json_text
from pipeline.front.run.build import Build

if TYPE_CHECKING:
    from pipeline.reports.explain import Edit, Explainer, Explanation, Places
    from pipeline.reports.origin.lines import Line

UP_TO_DATE = "everything is up to date\n"


class Explain(BuildCommand):
    """Explains a Node, an operator, a generated file or a stage; without a name, the effect of the last edits."""

    name = "explain"
    doc_purpose = "report what a result depends on and why it would be rebuilt"
    doc_usage = "[NAME …] [FILE:LINE …] [specs=SET …] [format=json]"
    doc_description = (
        "NAME is a Node, an operator, also as torch.exp, aten::exp or aten.exp.default, a helper that formulas call, a"
        " generated file, a stage, or all of emit, shard or manifest. FILE:LINE is a place in a generated file, as a"
        " compiler prints it: the report names the entry that the line comes from. Or it is a place in a YAML file,"
        " in specset.toml or in a header of helpers. Without NAME: every entry that changed since the last run, the"
        " Nodes that depend on it, and the files that will change. format=json prints one array."
    )

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        as_json = self.build.config.format == "json"
        check(self.build, map(self.build.stages.root, (*self.build.stages.analysis, "shard")))
        results = _verified(self.build, _named(self.build, arguments)) if arguments else explainer(self.build).edits()
        sys.stdout.write(json_text(results).decode() if as_json else _text(results))
        return 0


def _named(build: Build, arguments: list[str]) -> list[Explanation | Line]:
    """The explanations of the names and the FILE:LINE places of the command line, in its order."""
    from pipeline.io.files import read_file
    from pipeline.reports.origin.lines import Lines, place_in
    from pipeline.reports.origin.spec_lines import SpecLines

    results: list[Explanation | Line] = []
    names = explainer(build)
    spec_lines = SpecLines(build.db, _places(build).specs, read_file, names)
    for argument in arguments:
        place = place_in(argument)
        if place is None:
            results += names.explain(argument)
            continue
        of_specs = spec_lines.explain(*place)
        lines = Lines(build.db, build.layout, _places(build), read_file, spec_lines.names)
        results += [lines.explain(*place)] if of_specs is None else of_specs
    return results


def _verified(build: Build, results: list[Explanation | Line]) -> list[Explanation | Line]:
    """The explanations, those of Nodes and operators with what earlier verifications found."""
    from msgspec.structs import replace

    from pipeline.front.run.verification import known
    from pipeline.reports.explain import Explanation

    verified = known(build)
    states = verified.states() if verified is not None else {}
    return [
        replace(each, verification=states.get(each.name.partition("(")[0], ""))
        if isinstance(each, Explanation)
        else each
        for each in results
    ]


def _text(results: Sequence[Explanation | Line | Edit]) -> str:
    from pipeline.reports.explain_text import text_of

    return "".join(map(text_of, results)) or UP_TO_DATE


def explainer(build: Build) -> Explainer:
    """The explainer of a build. Its stages must be up to date."""
    from pipeline.reports.explain import Explainer

    return Explainer(build.db, build.layout, _places(build), stage_rows(build))


def _places(build: Build) -> Places:
    from pipeline.reports.explain import Places

    specs = build.config.specs
    return Places(
        {role: str(at) for role, at in specs.files.items()},
        {name: str(at) for name, at in specs.templates.items()},
        build.path,
        lambda name, digest: build.outputs.has_digest(build.path(name), digest),
    )
