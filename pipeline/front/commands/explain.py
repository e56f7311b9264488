"""`doit explain [NAME]`: what a thing is made from, what it is made into, and why it would be made again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pipeline.front.commands.command import BuildCommand, check, stage_rows
from pipeline.front.commands.output import json_text
from pipeline.front.run.build import Build

if TYPE_CHECKING:
    from pipeline.reports.explain import Edit, Explanation

UP_TO_DATE = "everything is up to date\n"


class Explain(BuildCommand):
    """Explains a Node, an operator, a generated file or a stage; without a name, what the last edits will change."""

    name = "explain"
    doc_purpose = "report what a thing is made from and why it would be made again"
    doc_usage = "[NAME …] [specs=SET …] [format=json]"
    doc_description = (
        "NAME is a Node, an operator, a generated file or a stage. Without NAME: every entry that changed since the"
        " last run, the Nodes that follow from it, and the files that will change. With format=json one array."
    )

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        as_json = build.config.format == "json"
        if not arguments and build.nothing_changed:
            sys.stdout.write("[]\n" if as_json else UP_TO_DATE)
            return 0
        check(build, map(build.root, (*build.analysis, "shard")))
        explainer = _explainer(build)
        named = [each for name in arguments for each in explainer.explain(name)]
        found = named if arguments else explainer.edits()
        sys.stdout.write(json_text(found).decode() if as_json else _text(found))
        return 0


def _text(found: list[Explanation] | list[Edit]) -> str:
    from pipeline.reports.explain import Edit
    from pipeline.reports.explain_text import render, render_edit

    return "".join(render_edit(each) if isinstance(each, Edit) else render(each) for each in found) or UP_TO_DATE


def _explainer(build: Build) -> Any:
    from pipeline.reports.explain import Explainer, Places

    specs = build.config.specs
    places = Places(
        {role: str(at) for role, at in specs.files.items()},
        {name: str(at) for name, at in specs.templates.items()},
        build.path,
        lambda name, digest: build.outputs.holds(build.path(name), digest),
    )
    return Explainer(build.db, build.layout, places, stage_rows(build))
