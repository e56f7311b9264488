"""`doit explain [NAME]`: what a thing is made from, what is made from it, and why it would be made again."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.build.engine import Build
from pipeline.front.commands.command import BuildCommand


class Explain(BuildCommand):
    """Explains a Node, an operator, a generated file or a stage; without a name, what the last edits will change."""

    name = "explain"
    doc_purpose = "tell what a thing is made from and why it would be made again"
    doc_usage = "[NAME] [specs=SET …]"
    doc_description = (
        "NAME is a Node, an operator, a generated file or a stage. Without NAME: every entry that changed since the"
        " last run, the Nodes that follow from it, and the files that will change."
    )

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.reports.explain import Explainer, render, render_edit

        explainer = Explainer(build)
        if arguments:
            for name in arguments:
                for explanation in explainer.explain(name):
                    sys.stdout.write(render(explanation))
            return 0
        edits = explainer.edits()
        sys.stdout.write("".join(map(render_edit, edits)) or "everything is up to date\n")
        return 0
