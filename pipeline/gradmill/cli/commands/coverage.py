"""`gradmill coverage`: forward derivatives, `not_implemented` and saved variables, counted and listed."""

from __future__ import annotations

from gradmill.cli.commands.report import format_of, json_text, write_output
from gradmill.cli.commands.request import Request, check
from gradmill.reports import coverage, coverage_text


def main(request: Request) -> int:
    """Reports which functions of a spec set have derivatives, and what their Nodes save."""
    with request.open() as session:
        check(session, [session.stages.root("match")])
        measured = coverage.measure(session.db, request.names, request.options["only"])
        as_json = format_of(request.options, session) == "json"
        report = json_text(measured) if as_json else coverage_text.render(measured).encode()
        write_output(session, report, request.options["output"])
        session.save_if_first()
    return 0
