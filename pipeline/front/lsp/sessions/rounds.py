"""A build over the texts of open files, updated in rounds; it writes no generated file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from pipeline.front.lsp.sessions.private import Private
from pipeline.front.run.build import BUDGET, Build, Mode
from pipeline.front.run.inputs import Inputs
from pipeline.front.run.own_code import OwnCode
from pipeline.front.run.paths import paths_of
from pipeline.front.run.problems import all_problems
from pipeline.front.run.roots import Root, Stages
from pipeline.front.settings.config import Config
from pipeline.problems.problem import Problem


class Rounds:
    """A build of `roots` with a private store. `runs`: whether the store starts as a copy of the last run's."""

    def __init__(
        self,
        config: Config,
        code: OwnCode,
        roots: Callable[[Stages], list[Root]],
        private: Private,
        *,
        runs: bool = False,
    ) -> None:
        self.had_run = private.take(runs=runs)
        paths, mode = replace(paths_of(config), stores=private.folder), Mode(budget=BUDGET, private=True)
        self.build = Build(config, paths, Inputs(config, code), mode=mode)
        self.problems: list[Problem] = []  # of the last round, including those that follow from other errors
        self._roots = roots
        self._private = private
        self._begun = False
        self._unkept = False

    def update(self, opened: Mapping[str, bytes]) -> None:
        """Brings the roots up to date with the disk and the texts of open files, which are keyed by input label. Raises
        CodeChanged if gradmill's code changed."""
        self.settle()  # commit the previous round first
        build = self.build
        build.inputs.opened = dict(opened)
        self._unkept = True
        if self._begun:
            build.refresh(cumulative=True)
        problems = all_problems(build.config, build.db, self._roots(build.stages))
        build.inputs.code.check()
        self.problems = problems
        if not self._begun and not self.had_run:  # without a run, the first round is the base of comparison
            build.db.replaced.clear()
        self._begun = True

    def settle(self) -> None:
        """Commits the results of the last round; separate from `update`, so that the editor does not wait for it."""
        if self._unkept:
            self._unkept = False
            if self.build.inputs.code.is_unchanged():
                self.build.db.commit()

    def close(self) -> None:
        """Closes the database and removes its files."""
        self._unkept = False
        self.build.close()
        self._private.remove()

    def discard(self) -> None:
        """Removes the files of the database, which stays open: the process ends."""
        self._private.remove()
