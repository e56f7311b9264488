"""`doit page`: writes a folder of HTML pages for browsing the spec set."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Any

from msgspec.structs import replace

from pipeline.front.commands.command import BuildCommand, Failed, check, fail_for
from pipeline.front.console import print_report
from pipeline.front.doit.loader import open_build
from pipeline.front.run.build import Build
from pipeline.front.run.claims import check_claims
from pipeline.front.run.pages import Other, PageBuild, facts_of, set_name
from pipeline.front.run.problems import Problems
from pipeline.front.run.verification import known
from pipeline.front.settings.config import Config, read_against
from pipeline.problems.plain import lines


class Page(BuildCommand):
    """Writes the pages whose bytes changed."""

    name = "page"
    doc_purpose = "write a folder of HTML: every operator, its formulas, what they become"
    doc_usage = "[against=SET] [specs=SET …]"
    doc_description = (
        "The folder is page/ below the generated files; open its index.html. With against=SET, the pages also show the"
        " changes since that spec set, which may be core, torch, a folder or a wheel."
    )

    def open(self) -> Build:
        variables = self.variables()
        self._against: Config | None = None
        if "against" in variables:
            self._against = read_against(variables)
        named = set_name(self._against) if self._against is not None else ""
        return open_build(variables, lambda config: PageBuild(config, named))

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        build = self.build
        assert isinstance(build, PageBuild)
        self.expect_none(arguments, "gradmill page [against=SET] [specs=SET]")
        index = build.path("index.html")
        check_claims(build.config)
        if self._against is not None:
            derivatives, stats, errors = facts_of(self._against)
            if errors:
                raise Failed(errors, self._against.format)
            build.compare(Other(derivatives, self._code_changes(), stats))
        build.tell_verdicts(self._verdicts())
        problems, files = _checked(build), len(build.file_names())
        written, removed = build.write()
        build.commit(problems)
        print_report(problems.report, build.config.format)
        also = f", {removed} removed" if removed else ""
        sys.stdout.write(lines([f"{index}: {files} files, {written or 'none'} written{also}"]))
        return 0

    def _verdicts(self) -> dict[str, str]:
        """What earlier verifications found, by Node."""
        with closing(Build(self.build.config)) as plain:
            verified = known(plain)
        return verified.lines() if verified is not None else {}

    def _code_changes(self) -> bytes:
        """The changes of generated code that the list of changes shows, encoded."""
        from pipeline.front.commands.diff import code_report
        from pipeline.query.memo import encode
        from pipeline.reports.page.code_changes import shown

        with closing(Build(replace(self.build.config, lines=False))) as plain:
            return encode(shown(code_report(plain, self.variables())))


def _checked(build: PageBuild) -> Problems:
    """Brings all pages up to date; returns the warnings. Raises Failed if the specs have errors; errors up to `match`
    come first, because the pages need its functions."""
    check(build, [build.stages.root("match")])
    build.update()
    problems = build.problems_of([build.stages.root("match"), build.page_root])
    fail_for(build, problems)
    return problems
