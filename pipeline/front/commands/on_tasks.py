"""What doit's own commands do more where the tasks are gradmill's: the tasks hear what the command line asks for.

A mixin of commands, not a loader: it is there however doit was started. With tasks of others all stays doit's own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from doit.cmdparse import CmdParseError
from doit.exceptions import InvalidCommand

from pipeline.front.doit.backend import OTHERS
from pipeline.front.doit.work import Asked
from pipeline.front.settings.hints import odd_word, two_lines, unknown_task, without_patterns
from pipeline.problems.plain import line

if TYPE_CHECKING:
    from pipeline.front.doit.tasks import Tasks


class OnTasks:
    """A command of doit's."""

    name: str
    loader: Any
    execute_tasks: bool
    given: Any  # the options

    def parse_execute(self, in_args: list[str]) -> Any:
        try:
            return super().parse_execute(in_args)  # type: ignore[misc]
        except CmdParseError as error:  # doit's message ends in all options, as Python prints them
            problem = str(error).partition(" (parsing options:")[0].strip()
            raise InvalidCommand(
                two_lines(f"{self.name}: {problem}", f"doit help {self.name} lists the options")
            ) from None

    def execute(self, params: Any, args: list[str]) -> Any:
        self.given = params
        self.loader = _Loader(self.loader, params)
        try:
            return super().execute(params, args)  # type: ignore[misc]
        finally:
            if not self.execute_tasks and self.tasks is not None:  # a run ends otherwise: it keeps what it found
                self.tasks.build.drop()

    @property
    def tasks(self) -> Tasks | None:
        """gradmill's tasks; None for those of others, and before they are loaded."""
        return (getattr(self.loader, "namespace", None) or {}).get("TASKS")

    def prepare(self, words: list[str], found: Sequence[Any]) -> None:
        """Called when gradmill's tasks are loaded, with the words of the command line: a list that doit reads after
        that. InvalidCommand where they do not go together."""
        names = [task.name for task in found]
        words[:] = without_patterns(words, names)
        problem = next(filter(None, (unknown_task(word, names) for word in words)), "")
        if problem:
            raise InvalidCommand(problem)

    def check_notes(self) -> None:
        """Refuses to note what is to be forgotten where no run looks."""
        assert self.tasks is not None
        place, given = self.tasks.build.paths.notes, self.given
        if given["backend"] != "gradmill" or os.path.abspath(given["dep_file"]) != os.path.abspath(place + OTHERS):
            raise InvalidCommand(
                line(f"runs look in {place} for what is to be forgotten") + "\n  leave out --backend and --db-file"
            )


class _Loader:
    """The loader that doit chose, which tells gradmill's tasks what is asked for before it makes them."""

    def __init__(self, loader: Any, options: Any) -> None:
        self._loader = loader
        self._options = {
            "always": bool(options.get("always", False)),
            "single": bool(options.get("single", False)),
            "each": (options.get("verbosity", None) or 0) > 1,
        }

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def load_tasks(self, cmd: OnTasks, pos_args: list[str]) -> Any:
        tasks = cmd.tasks
        if tasks is None:
            return self._loader.load_tasks(cmd, pos_args)
        if problem := odd_word(pos_args):
            raise InvalidCommand(problem)
        tasks.ask(Asked(pos_args, cmd.execute_tasks, **self._options))
        found = self._loader.load_tasks(cmd, pos_args)
        cmd.prepare(pos_args, found)
        return found
