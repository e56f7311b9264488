"""A mixin for doit's own commands: it passes the command line's selection and options to gradmill's tasks.

It extends the commands, not the loader, so that it works however doit was started. Other tasks keep doit's behaviour.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from doit.exceptions import InvalidCommand

from pipeline.front.commands.options import Options
from pipeline.front.doit.backend import OTHERS
from pipeline.front.settings.hints import odd_word, unknown_task, without_patterns
from pipeline.problems.plain import line

if TYPE_CHECKING:
    from pipeline.front.doit.tasks import Tasks


class OnTasks(Options):
    """One of doit's commands, extended for gradmill's tasks."""

    loader: Any
    execute_tasks: bool
    options: Any  # of the command line, by name

    def execute(self, params: Any, args: list[str]) -> Any:
        """Runs the command with parsed options and the names of tasks; returns its exit status."""
        self.options = params
        self.loader = _Loader(self.loader, params)
        try:
            return super().execute(params, args)  # type: ignore[misc]
        finally:
            if not self.execute_tasks and self.tasks is not None:  # a run commits its results instead
                self.tasks.build.drop()

    @property
    def tasks(self) -> Tasks | None:
        """gradmill's tasks; None before they are loaded, and if the tasks are not gradmill's."""
        return (getattr(self.loader, "namespace", None) or {}).get("TASKS")

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        """Called when gradmill's tasks are loaded. Expands the patterns in `words`, the task names of the command
        line, in place: doit reads the list afterwards. Raises InvalidCommand for a name that no task has."""
        names = [task.name for task in loaded]
        words[:] = without_patterns(words, names)
        problem = next(filter(None, (unknown_task(word, names) for word in words)), "")
        if problem:
            raise InvalidCommand(problem)

    def check_notes(self) -> None:
        """Raises InvalidCommand if the options name a file for the notes that no run reads."""
        assert self.tasks is not None
        path, options = self.tasks.build.paths.notes, self.options
        if options["backend"] != "gradmill" or os.path.abspath(options["dep_file"]) != os.path.abspath(path + OTHERS):
            raise InvalidCommand(
                line(f"runs read the tasks to forget from {path}") + "\n  leave out --backend and --db-file"
            )


class _Loader:
    """Wraps the loader that doit chose: passes the request to gradmill's tasks before it creates them."""

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
        from pipeline.front.doit.tasks import TaskRequest

        if problem := odd_word(pos_args):
            raise InvalidCommand(problem)
        tasks.ask(TaskRequest(pos_args, cmd.execute_tasks, **self._options))
        loaded = self._loader.load_tasks(cmd, pos_args)
        cmd.prepare(pos_args, loaded)
        return loaded
