"""One database over the texts of open files, round by round: a build that writes no generated file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from pipeline.front.lsp.sessions.private import Private
from pipeline.front.run.build import Build
from pipeline.front.run.paths import paths_of
from pipeline.front.run.resident import ROOM
from pipeline.front.run.roots import Root, Stages
from pipeline.front.settings.config import Config
from pipeline.problems.problem import Problem


class Rounds:
    """A build of what `roots` say, and its rows, which are this process's own. `runs`: whether they begin as those that
    the last run left."""

    def __init__(
        self, config: Config, roots: Callable[[Stages], list[Root]], private: Private, *, runs: bool = False
    ) -> None:
        self.had_run = private.take(runs=runs)
        self.build = Build(config, replace(paths_of(config), store=private.path))
        self.build.room = ROOM
        self.build.nothing_changed = False
        self.found: list[Problem] = []  # by the last round, with what only follows from other mistakes
        self._roots = roots
        self._private = private
        self._begun = False
        self._same_code = True
        self._unkept = False

    def update(self, opened: Mapping[str, bytes]) -> None:
        """Brings all up to date with the texts of open files, by what these go by among the inputs, and the disk."""
        self.settle()  # a round begins where the one before was kept
        build = self.build
        build.inputs.opened = dict(opened)
        self._unkept = True
        if self._begun:
            build.refresh(again=self._same_code, cumulative=True)
        found = build.db.diagnostics(self._roots(build.stages), Problem)
        build.inputs.code.check()
        self.found = found
        if not self._begun and not self.had_run:  # then what is there at first is what changes are compared with
            build.db.replaced.clear()
        self._begun = True

    def settle(self) -> None:
        """Keeps what was found for the next round; apart from `update`, as nobody waits for it."""
        if self._unkept:
            self._same_code, self._unkept = self.build.inputs.code.is_unchanged(), False
            if self._same_code:
                self.build.db.commit()

    def close(self) -> None:
        """Lets go of the database, and removes it."""
        self._unkept = False
        self.build.close()
        self._private.remove()
