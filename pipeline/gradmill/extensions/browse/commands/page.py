"""`gradmill page`: writes a folder of HTML pages for browsing the spec set."""

from __future__ import annotations

import sys
from contextlib import closing

from msgspec.structs import replace

from gradmill.cli.commands.diff import code_report
from gradmill.cli.commands.request import Failed, Request, check, fail_for, print_report
from gradmill.doors import checker
from gradmill.extensions.browse.pages import Other, PageSession, facts_of, set_name
from gradmill.problems.plain import lines
from gradmill.session.paths import check_claims
from gradmill.session.problems import Problems
from gradmill.session.session import Session
from gradmill.session.settings.config import Config, read_against


def main(request: Request) -> int:
    """Writes the pages whose bytes changed."""
    request.expect_none("gradmill page [against=SET] [specs=SET]")
    variables = request.settings()
    against = read_against(variables) if "against" in variables else None
    config = request.config()
    check_claims(config)
    other = None if against is None else _other(config, against, variables)
    named = set_name(against) if against is not None else ""
    with closing(PageSession(config, named, other, _verdicts(config)).begin()) as session:
        problems, files = _checked(session), len(session.file_names())
        written, removed = session.write()
        session.save()
        print_report(problems.report, config.format)
        if not request.options["quiet"]:
            also = f", {removed} removed" if removed else ""
            line = f"{session.path('index.html')}: {files} files, {written or 'none'} written{also}"
            sys.stdout.write(lines([line]))
    return 0


def _other(config: Config, against: Config, variables: dict[str, str]) -> Other:
    """The set that pages are compared with. Failed if it has errors."""
    sys.stderr.write(against.release_warning)
    derivatives, stats, errors = facts_of(against)
    if errors:
        raise Failed(errors, against.format)
    return Other(derivatives, _code_changes(config, variables), stats)


def _verdicts(config: Config) -> dict[str, str]:
    """What earlier verifications found, by Node."""
    verdicts = checker()
    if verdicts is None:
        return {}
    with closing(Session.open(config)) as plain:
        verified = verdicts.known(plain)
    return verified.lines() if verified is not None else {}


def _code_changes(config: Config, variables: dict[str, str]) -> bytes:
    """The changes of generated code that the list of changes shows, encoded."""
    from gradmill.extensions.browse.page.code_changes import shown
    from gradmill.query.memo import encode

    with closing(Session.open(replace(config, lines=False))) as plain:
        return encode(shown(code_report(plain, variables)))


def _checked(session: PageSession) -> Problems:
    """Brings all pages up to date; returns the warnings. Raises Failed if the specs have errors; errors up to `match`
    come first, because the pages need its functions."""
    check(session, [session.stages.root("match")])
    session.render()
    problems = session.problems()
    fail_for(session, problems)
    return problems
