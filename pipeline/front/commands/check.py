"""`doit check`: reports every error and warning of a spec set; `fix=1` first applies the certain fixes."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from pipeline.front.commands.command import BuildCommand, keep
from pipeline.front.console import print_report
from pipeline.front.run.claims import check_cache
from pipeline.front.run.paths import stores_in
from pipeline.problems.plain import line, lines
from pipeline.problems.problem import SpecError

_ROUNDS = 20  # of fixes: each round fixes only the first use of a name in a formula


class Check(BuildCommand):
    """Reports the problems of a spec set on standard output. Generates no file. Keeps the results only in a cache that
    the set has or that is named, and only if no complete run has filled it."""

    of_set = False

    name = "check"
    doc_purpose = "report all errors and warnings; write no file"
    doc_usage = "[specs=SET …] [format=text|json|github|sarif] [strict=1] [fix=1]"
    doc_description = (
        "Does all the work of a run except writing: the generated files are unchanged, and so is the cache of a set"
        " that was built. A cache=DIR keeps what the next check or run needs. A line names the set if it has no"
        " problems. The exit status is 1 if"
        " there is an error, or if strict=1 and there is a warning. fix=1 first applies each certain 'did you mean' to"
        " the spec files and prints the changes on standard error, then reports the remaining problems."
    )

    def stream(self) -> TextIO:
        return sys.stdout

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        self.expect_none(arguments, "gradmill check [specs=SET]")
        if not self.build.config.fix:
            return self._report()
        from pipeline.front.run.fixes import apply_fixes

        for _ in range(_ROUNDS):
            done, left = apply_fixes(self.build)
            sys.stderr.write(lines(done))
            if not done:
                break
            self.build.close()
            self.build = self.open()
        sys.stderr.write(lines(left))
        return max(self._report(), int(bool(left)))

    def _report(self) -> int:
        try:
            problems = self.build.problems(purity=True)
            print_report(problems.report or self._clean(), self.build.config.format, sys.stdout)
            if self._may_keep():
                keep(self.build)
            return int(problems.failed)
        finally:
            self.build.drop()

    def _clean(self) -> str:
        """The line that names the set, which may be another one than was meant; "" if reports are for machines."""
        config = self.build.config
        name = "core, the included set" if config.specs.owner == "core" else config.specs.name
        return line(f"{name}: no problems") + "\n" if config.format == "text" else ""

    def _may_keep(self) -> bool:
        """Whether the set has a cache, or one is named that does not belong to another set."""
        try:
            check_cache(self.build.config)
        except SpecError:
            return False
        return "cache" in self.variables() or bool(stores_in(self.build.config.folder))
