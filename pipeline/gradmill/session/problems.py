"""The problems of a build, whether they fail it, and their report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gradmill.families.subsets import LOADING, MATCHING
from gradmill.problems.problem import Problem
from gradmill.session.roots import ANALYSIS
from gradmill.session.settings.config import Config

if TYPE_CHECKING:
    from gradmill.query.database import Database
    from gradmill.session.roots import Root


# Queries of the stages that upstream runs only for files with derivatives.
_OF_MATCHING = ("gradmill.stages.foreach:", "gradmill.stages.match:")


class Problems:
    """The errors and warnings that were found, without those that only follow from others."""

    def __init__(self, config: Config, db: Database, found: list[Problem]) -> None:
        self._config, self._db = config, db
        self.all = found
        if found:
            from gradmill.problems.causes import causes

            self.all = causes(found)

    @property
    def failed(self) -> bool:
        """Whether they fail the build."""
        return fails(self._config, self.all)

    @cached_property
    def report(self) -> str:
        """All of them in the order of the files, in the requested format."""
        config = self._config
        if not self.all and config.format in ("text", "github"):
            return ""
        from gradmill.problems.formats import write_report
        from gradmill.session.sources import Sources

        sources = Sources(config, self._db)
        doubt = doubt_of(config, self.all)
        return write_report(config.format, self.all, sources, strict=config.strict, notes=config.warning, doubt=doubt)


def doubt_of(config: Config, problems: Sequence[Problem]) -> str:
    """A question about the release, if other releases accept what this one does not; "" for none."""
    refused = [problem.releases for problem in problems if problem.releases]
    if not refused:
        return ""
    from gradmill.releases.elsewhere import doubt

    text, version = doubt(refused, len(problems)), config.specs.version
    asked = f"the release of {config.specs.version_file or 'the set'}, {version}," if version else ""
    return text and f"{text}: is {asked or f'release={config.release}'} right?"


def all_problems(config: Config, db: Database, roots: Sequence[Root]) -> list[Problem]:
    """The errors and warnings of some queries and of their dependencies, without the silenced ones. Verifies the
    queries. What upstream does not find when it writes the requested files is a warning."""
    from gradmill.stages.silences import is_silent

    unmatched = () if config.prints(MATCHING) else _OF_MATCHING
    unread = "" if config.prints(LOADING) else "derivatives"
    problems = [
        _not_generated(problem) if name[0].startswith(unmatched) or problem.role == unread else problem
        for name, problem in db.reports(roots, Problem)
    ]
    if is_silent(db):
        return problems
    from gradmill.session.silences import silenced

    names = {str(query.name) for query, *_ in roots}
    entries = {f"gradmill.stages.{stage}:stage" for stage in ANALYSIS} <= names
    return silenced(db, problems, entries=entries, everything=entries and "gradmill.stages.shard:stage" in names)


def _not_generated(problem: Problem) -> Problem:
    return replace(problem, warning=True, rule=problem.rule if problem.warning else "not-generated")


def fails(config: Config, problems: Iterable[Problem]) -> bool:
    """Whether problems fail a build: an error does, and with `strict=1` a warning too."""
    return any(config.strict or not problem.warning for problem in problems)
