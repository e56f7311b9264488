"""`gradmill explain [NAME]`: the dependencies of a result, its dependents, and why it would be rebuilt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradmill.cli.commands.report import json_text
from gradmill.cli.commands.request import Request, check
from gradmill.session.session import Session

if TYPE_CHECKING:
    from gradmill.reports.explain import Edit, Explainer, Explanation
    from gradmill.reports.origin.lines import Line

UP_TO_DATE = "everything is up to date\n"


def main(request: Request) -> int:
    """Explains a Node, an operator, a generated file or a stage; without a name, the effect of the last edits."""
    with request.open() as session:
        check(session, map(session.stages.root, (*session.stages.analysis, "shard")))
        named = request.names
        results = _verified(session, _named(session, named)) if named else explainer(session).edits()
        sys.stdout.write(json_text(results).decode() if session.config.format == "json" else _text(results))
    return 0


def _named(session: Session, arguments: list[str]) -> list[Explanation | Line]:
    """The explanations of the names and the FILE:LINE places of the command line, in its order."""
    from gradmill.reports.origin.lines import explain_line, place_in
    from gradmill.reports.origin.spec_lines import SpecLines

    results: list[Explanation | Line] = []
    names = explainer(session)
    spec_lines = SpecLines(names)
    for argument in arguments:
        place = place_in(argument)
        if place is None:
            results += names.explain(argument)
            continue
        of_specs = spec_lines.explain(*place)
        results += [explain_line(names, *place, spec_lines.names)] if of_specs is None else of_specs
    return results


def _verified(session: Session, results: list[Explanation | Line]) -> list[Explanation | Line]:
    """The explanations, those of Nodes and operators with what earlier verifications found."""
    from msgspec.structs import replace

    from gradmill.doors import loaded
    from gradmill.reports.explain import Explanation

    states = {name: state for found in loaded("states") for name, state in found(session).items()}
    return [
        replace(each, verification=states.get(each.name.partition("(")[0], ""))
        if isinstance(each, Explanation)
        else each
        for each in results
    ]


def _text(results: Sequence[Explanation | Line | Edit]) -> str:
    from gradmill.reports.explain_text import text_of

    return "".join(map(text_of, results)) or UP_TO_DATE


def explainer(session: Session) -> Explainer:
    """The explainer of a session. Its stages must be up to date."""
    from gradmill.reports.explain import BuildPaths, Explainer
    from gradmill.reports.trail import row

    rows = {stage: row(*session.stages.root(stage)) for stage in session.stages.analysis}
    specs = session.config.specs
    paths = BuildPaths(
        {role: str(at) for role, at in specs.files.items()},
        {name: str(at) for name, at in specs.templates.items()},
        session.path,
        lambda name, digest: session.outputs.has_digest(session.path(name), digest),
    )
    return Explainer(session.db, session.layout, paths, rows)
