"""`gradmill verify`: compiles formulas, and compares their derivatives with finite differences."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from gradmill.cli.commands.report import format_of, json_text, read_other, write_output
from gradmill.cli.commands.request import Request, check, print_report
from gradmill.extensions.verify import report
from gradmill.extensions.verify.known import deciding, settings_of
from gradmill.extensions.verify.model import NOT_COMPILED, Code
from gradmill.extensions.verify.run import Result, verify
from gradmill.extensions.verify.subjects import codes
from gradmill.problems.catalog.verification import UNCHECKED
from gradmill.problems.formats import write_report
from gradmill.problems.problem import SpecError
from gradmill.session.revision import has_revision
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config
from gradmill.session.settings.variables import REVISION
from gradmill.session.silences import silenced_findings
from gradmill.session.sources import Sources

_HEAD = f"{REVISION}HEAD"


def main(request: Request) -> int:
    """Verifies formulas with the installed torch. Results are kept in the set's folder of the cache."""
    start = time.monotonic()
    names, options, variables = request.names, request.options, request.settings()
    if options["all"] and (names or "against" in request.variables):
        raise SpecError("verify: --all verifies all formulas", "leave it out, or leave out names and against=")
    with request.open() as session:  # closed before: a run that writes to the cache waits for all readers
        check(session, [session.stages.root("match")])
        settings = settings_of(session)
        chosen, scope = _chosen(session, names, variables, everything=options["all"])
        session.save_if_first()
    result = verify(chosen, settings)
    seconds = time.monotonic() - start
    # The findings are placed in the files as they are now.
    with closing(Session.open(read_config(variables))) as session:
        return _report(session, result, scope, seconds, options, details=bool(names) or len(chosen) <= 5)


def _chosen(
    session: Session, names: Sequence[str], variables: dict[str, str], *, everything: bool
) -> tuple[list[Code], str]:
    """The formulas to verify; and a line that says how many of all these are, "" for all or those of the names."""
    own = list(codes(session.db, names))
    if everything or ("against" not in variables and (names or not has_revision(session.config.specs, "HEAD"))):
        if not (everything or names):
            sys.stderr.write(f"no commit has this set: all {len(own)} formulas are verified; name some, or against=\n")
        return own, ""
    named = variables.setdefault("against", _HEAD)
    others = read_other(session, variables, _deciding)
    now = deciding(session)
    changed = [code for code in own if now[code.subject.name] != others.get(code.subject.name)]
    hint = "" if changed else "; --all verifies all of them"
    return changed, f"{len(changed) or 'none'} of {len(own)} formulas differ from {named}{hint}\n"


def _report(
    session: Session, result: Result, scope: str, seconds: float, options: dict[str, Any], *, details: bool
) -> int:
    config = session.config
    problems = silenced_findings(session.db, list(report.problems(result)))
    shared = any(verdict.wrong_as_torchs for _, verdict in result.verdicts)
    failed = (config.strict and shared) or any(config.strict or not problem.warning for problem in problems)
    if format_of(options, session) == "json":
        write_output(session, json_text(report.report(result, seconds, scope.strip())), options["output"])
        return int(failed)
    if config.format == "text":
        problems = [each for each in problems if each.rule != UNCHECKED or (details and NOT_COMPILED in each.problem)]
    written = write_report(config.format, problems, Sources(config, session.db), strict=config.strict)
    if config.format != "text":
        write_output(session, written.encode(), options["output"])
        return int(failed)
    print_report(written, config.format, sys.stdout)
    text = report.text(result, seconds, config.release, details=details, verbose=options["verbose"])
    write_output(session, (scope + text).encode(), options["output"])
    return int(failed)


def _deciding(session: Session) -> dict[str, str]:
    """What decides the verdicts on another set's formulas, read completely before the own set goes on."""
    check(session, [session.stages.root("match")])
    digests = deciding(session)
    session.save_if_first()
    return digests
