"""The problems of a build: whether they stop it, and their report."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from pipeline.front.settings.config import Config
from pipeline.problems.problem import Problem

if TYPE_CHECKING:
    from pipeline.front.run.roots import Root
    from pipeline.query.database import Database


class Problems:
    """The errors and warnings of some queries and of what these are made from; none that only follows from others."""

    def __init__(self, config: Config, db: Database, roots: Iterable[Root]) -> None:
        from pipeline.problems.causes import causes

        self._config, self._db = config, db
        self.all = causes(db.diagnostics(list(roots), Problem))

    @property
    def failed(self) -> bool:
        """Whether they stop a build."""
        return fails(self._config, self.all)

    @cached_property
    def report(self) -> str:
        """All of them in the order of the files, in the format that is asked for."""
        config = self._config
        if not self.all and config.format in ("text", "github"):
            return ""
        from pipeline.front.run.sources import Sources
        from pipeline.problems.formats import write_report

        sources = Sources(config, self._db)
        return write_report(config.format, self.all, sources, strict=config.strict, notes=config.warning)


def fails(config: Config, problems: Iterable[Problem]) -> bool:
    """Whether problems stop a build."""
    return any(config.strict or not problem.warning for problem in problems)
