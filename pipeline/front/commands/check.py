"""`doit check`: reports every error and warning of a spec set; `fix=1` first applies the certain fixes."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from pipeline.front.commands.command import BuildCommand, keep, print_report
from pipeline.front.doit.loader import open_build
from pipeline.front.run.build import Build
from pipeline.problems.plain import lines

_ROUNDS = 20  # of fixes: each round fixes only the first use of a name in a formula


class Check(BuildCommand):
    """Reports the problems of a spec set on standard output. Generates no file. The cache keeps the results only if no
    complete run has filled it."""

    name = "check"
    doc_purpose = "report all errors and warnings; write no file"
    doc_usage = "[specs=SET …] [format=text|json|github|sarif] [strict=1] [fix=1]"
    doc_description = (
        "Does all the work of a run except writing: the generated files are unchanged, and so is the cache of a set"
        " that was built. The cache of any other set keeps what the next check or run needs. The exit status is 1 if"
        " there is an error, or if strict=1 and there is a warning. fix=1 first applies each certain 'did you mean' to"
        " the spec files and prints the changes on standard error, then reports the remaining problems."
    )

    def stream(self) -> TextIO:
        return sys.stdout

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        self.expect_none(arguments, "gradmill check [specs=SET]")
        if not build.config.fix:
            return _report(build)
        from pipeline.front.run.fixes import apply_fixes

        for _ in range(_ROUNDS):
            done, left = apply_fixes(build)
            sys.stderr.write(lines(done))
            if not done:
                break
            build.close()
            build = open_build(self.variables())
        sys.stderr.write(lines(left))
        return max(_report(build), int(bool(left)))


def _report(build: Build) -> int:
    """Reports all problems; returns the exit status."""
    try:
        problems = build.problems()
        print_report(problems.report, build.config.format, sys.stdout)
        keep(build)
        return int(problems.failed)
    finally:
        build.drop()
