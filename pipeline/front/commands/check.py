"""`doit check`: every mistake and every warning of a spec set; with `fix=1` mends what it is certain of."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from pipeline.front.commands.command import BuildCommand, keep, say
from pipeline.front.doit.loader import open_build
from pipeline.front.run.build import Build
from pipeline.problems.plain import lines

_ROUNDS = 20  # of fixes: one tells of a name at the first of its places in a formula


class Check(BuildCommand):
    """Reports the problems of a spec set on standard output. Nothing is generated; of a set that was never built, the
    cache keeps what was found."""

    name = "check"
    doc_purpose = "report all mistakes and warnings; write no file"
    doc_usage = "[specs=SET …] [format=text|json|github|sarif] [strict=1] [fix=1]"
    doc_description = (
        "Does all the work of a run but for writing: generated files stay as they are, and so does the cache of a set"
        " that was built; that of another set keeps what the next check or run needs. The exit status is 1 where there"
        " is a mistake, or a warning and strict=1. fix=1 first applies each 'did you mean' that is certain to the spec"
        " files, and says what it changed on standard error; what is left is reported."
    )

    def stream(self) -> TextIO:
        return sys.stdout

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        self.expect_none(arguments, "doit check [specs=SET]")
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
    """Reports what is wrong; gives the exit status."""
    try:
        problems = build.problems()
        say(problems.report, build.config.format, sys.stdout)
        keep(build)
        return int(problems.failed)
    finally:
        build.drop()
