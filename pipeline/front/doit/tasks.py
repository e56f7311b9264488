"""gradmill's tasks: one per stage, per unit that has work, and per generated file.

A task is a view of the queries at its root. doit's up-to-date check brings these queries up to date, in the process
that has the database. The task's action then only fails or writes a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from doit.exceptions import InvalidCommand

from pipeline.front.doit.effect import Effect
from pipeline.front.doit.files import FileTasks
from pipeline.front.doit.units import UnitTasks
from pipeline.front.doit.work import Asked, Task, Work
from pipeline.front.run.build import Build
from pipeline.front.run.claims import check_claims
from pipeline.front.run.notes import clear_forgotten
from pipeline.front.run.problems import Problems
from pipeline.front.run.stale import named_units
from pipeline.front.settings.config import NO_FIX, NO_FIX_HINT
from pipeline.front.settings.hints import GROUPS, two_lines
from pipeline.problems.plain import line, message_of
from pipeline.problems.problem import SpecError


class Tasks:
    """The tasks of one build. `finish` ends their run."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self._work = Work(build)
        self.units = UnitTasks(self._work)
        self.files = FileTasks(self._work)
        self.failures = self._work.failures

    @property
    def asked(self) -> Asked:
        """The request of the command line."""
        return self._work.asked

    def ask(self, asked: Asked) -> None:
        """Sets the request of the command line; called before any task is created."""
        self._work.asked = asked
        self.build.writes = bool(asked.running)

    def stages(self) -> Iterator[Task]:
        """The tasks of the stages. Raises InvalidCommand if another set owns the folders, or for `fix=`."""
        if self.build.config.fix:
            raise InvalidCommand(f"{NO_FIX}\n  {NO_FIX_HINT}")
        if not self.build.nothing_changed:
            try:
                check_claims(self.build.config)
            except SpecError as error:
                raise InvalidCommand(message_of(error)) from None
        for name, (doc, *needed) in self.build.stages.analysis.items():
            look = lambda effect, name=name: self._look(name, effect)  # noqa: E731
            yield self._work.task(name, doc, look, basename=name, task_dep=needed)

    def _look(self, stage: str, effect: Effect) -> bool:
        from pipeline.query.explain import ran_for

        db, root = self.build.db, self.build.stages.root(stage)
        current = db.is_valid(*root)
        db.digest(*root)
        effect.failure = self._work.failure([root])
        ran = ran_for(db, root, lambda row: row[0].startswith(f"{stage}:"))
        return current and not effect.failure and not ran

    # ---- names

    def named(self, word: str, tasks: Sequence[str]) -> str:
        """The name of the task that writes the file at the path `word`; else `word` itself."""
        if word in tasks or word.startswith((*GROUPS, "-")) or "*" in word or not ("/" in word or "." in word):
            return word
        path, folder = os.path.abspath(word), os.path.join(os.path.abspath(self.build.config.generated), "")
        if path in map(os.path.abspath, (self.build.paths.manifest, self.build.paths.units)):
            return "manifest"
        return f"shard:{path.removeprefix(folder)}" if path.startswith(folder) else word

    def members(self) -> list[str]:
        """The names of the tasks of units and files; none if the specs have errors."""
        build = self.build
        if self._work.stops:
            return []
        return [*(f"emit:{name}" for name in named_units(build)), *(f"shard:{name}" for name in build.file_names())]

    def count_of_units(self) -> int:
        """The number of units; 0 if the specs have errors."""
        return 0 if self._work.stops else self.build.count_of_units()

    # ---- the end

    def finish(self, selected: Sequence[str], *, failed: bool) -> str:
        """Commits the results of the run and writes its stamp; returns the report of warnings."""
        build = self.build
        if build.nothing_changed:
            assert build.record is not None
            self._stamp(selected)
            return build.record.made.report
        complete = not failed and self.files.are_current()  # an interrupted run ends here too
        clear_forgotten(build.paths.notes, build.forgotten, self._work.done, again=complete)
        problems = None if failed else self._work.problems if complete else self._problems_so_far()
        warnings = problems.report if problems is not None else ""
        if not failed:
            self._stamp(selected)
        build.commit(problems, complete=complete, failed=failed)
        return warnings

    def _problems_so_far(self) -> Problems:
        """The problems of the stages that have been brought up to date."""
        build = self.build
        return build.problems_of([root for root in build.stages.roots() if build.db.is_clean(*root)])

    def _stamp(self, selected: Sequence[str]) -> None:
        """Writes the digests of the selected tasks' results to the file in `stamp=`, if they changed."""
        build = self.build
        if not build.config.stamp:
            return
        from pipeline.front.run.places import refusal_of
        from pipeline.front.run.stamp import stamp_of
        from pipeline.io.files import read_file, replace_file

        data, path = stamp_of(build, selected), build.config.stamp
        if problem := refusal_of(build, "stamp"):
            hint = f"move it, or name another place: {build.config.option('stamp', 'FILE')}"
            raise InvalidCommand(two_lines(f"{build.config.option('stamp', path)}: {problem}", hint))
        try:
            if read_file(path) != data:
                replace_file(path, data)
        except OSError as error:
            raise InvalidCommand(line(f"{build.config.option('stamp', path)}: {error.strerror}")) from None
