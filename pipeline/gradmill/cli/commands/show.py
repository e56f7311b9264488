"""`gradmill show STAGE [NAME]`: the rows of a stage as JSON on standard output."""

from __future__ import annotations

import sys

import msgspec

from gradmill.cli.commands.request import Request, check, fail_for
from gradmill.doors import readers
from gradmill.families.bindings import BINDINGS
from gradmill.problems.problem import Problem, SpecError, nearest
from gradmill.reports.show import rows, stages
from gradmill.session.problems import Problems


def main(request: Request) -> int:
    """Prints the rows of a stage, one JSON object a line."""
    stage, _, rest = (request.names or [""])[0].partition(":")
    if stage not in stages() or len(request.names) > 2:
        problem = f"show: no stage '{stage}'" if stage else "show: name a stage"
        raise SpecError(problem, nearest(stage, stages()) or f"stages: {', '.join(stages())}")
    if stage == BINDINGS.name:  # are shown unless other families are requested
        request.variables.setdefault("families", request.settings().get("families", BINDINGS.name))
    with request.open() as session:
        if stage in readers() and stage not in session.config.added:
            raise SpecError(f"show: there are no {stage}", f"also write {stage}=PATH")
        if stage == BINDINGS.name and BINDINGS.name not in session.config.families:
            raise SpecError("show: the Python bindings are not requested", f"write families={BINDINGS.name}")
        check(session, [session.stages.root(stages()[stage].stage)])
        name = request.names[1] if len(request.names) == 2 else rest
        encoder, refused = msgspec.json.Encoder(), list[Problem]()
        for row in rows(session.db, session.layout, stage, name, refused):
            where = {"path": session.path(row["name"])} if stage == "shard" else {}
            sys.stdout.buffer.write(encoder.encode({**where, **row}) + b"\n")
        sys.stdout.flush()
        session.save_if_first()
        fail_for(session, Problems(session.config, session.db, refused))
    return 0
