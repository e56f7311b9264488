"""`doit explain [NAME]`: what a thing is made from, what it is made into, and why it would be made again."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.front.commands.command import BuildCommand, check, stage_rows
from pipeline.front.run.build import Build


class Explain(BuildCommand):
    """Explains a Node, an operator, a generated file or a stage; without a name, what the last edits will change."""

    name = "explain"
    doc_purpose = "report what a thing is made from and why it would be made again"
    doc_usage = "[NAME …] [specs=SET …]"
    doc_description = (
        "NAME is a Node, an operator, a generated file or a stage. Without NAME: every entry that changed since the"
        " last run, the Nodes that follow from it, and the files that will change."
    )

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        if not arguments and build.nothing_changed:
            sys.stdout.write("everything is up to date\n")
            return 0
        check(build, map(build.root, (*build.analysis, "shard")))
        from pipeline.reports.explain_text import render, render_edit

        explainer = _explainer(build)
        if arguments:
            for name in arguments:
                sys.stdout.write("".join(map(render, explainer.explain(name))))
            return 0
        edits = explainer.edits()
        sys.stdout.write("".join(map(render_edit, edits)) or "everything is up to date\n")
        return 0


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
