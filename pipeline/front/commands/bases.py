"""The bases of commands of doit's kind: `Options` of all, `OnTasks` of doit's own that load tasks.

Options may follow names, and an unknown one is reported with a hint. The selection and the options of a command line
are passed to gradmill's tasks: by the commands, not the loader, so that it works however doit was started. Other tasks
keep doit's behaviour.
"""

from __future__ import annotations

import getopt
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from doit.cmdparse import CmdParseError
from doit.exceptions import InvalidCommand

from pipeline.front.doit.backend import OTHERS
from pipeline.front.settings.command_line import unknown_in_clone
from pipeline.front.settings.hints import odd_word, two_lines, unknown_option, unknown_task, without_patterns
from pipeline.problems.plain import line
from pipeline.problems.problem import nearest

if TYPE_CHECKING:
    from pipeline.front.doit.tasks import Tasks

OWN_NAME = "gradmill"  # the program without other projects' tasks

_PROBLEMS = {  # a part of getopt's message -> the problem with the option
    "requires argument": "this option needs a value",
    "must not have an argument": "this option has no value",
    "unique prefix": "this is the beginning of several options",
}


def option(name: str, meaning: str, default: object = "", **more: Any) -> dict[str, Any]:
    """An option of a command, of the type of its default value. `more`: what doit may take besides."""
    return {"name": name, "long": name, "type": type(default), "default": default, "help": meaning, **more}


class Options:
    """A command of doit's kind."""

    name: str
    cmdparser: Any
    task_options = False  # whether words after a name may be the options of a task

    def parse_execute(self, in_args: list[str]) -> Any:
        """Parses the words and runs the command; returns its exit status. InvalidCommand for an unknown option, and for
        an unknown variable of `doit`, which ignores those; `gradmill` has refused them."""
        if problem := unknown_in_clone():
            raise InvalidCommand(problem)
        words = in_args if self.task_options else self._ordered(in_args)
        try:
            return super().parse_execute(words)  # type: ignore[misc]
        except CmdParseError as error:  # doit's message ends in the repr of all options
            problem = str(error).partition(" (parsing options:")[0].strip()
            raise InvalidCommand(two_lines(f"{self.name}: {problem}", self._help())) from None

    def _ordered(self, words: list[str]) -> list[str]:
        """The words with all options first."""
        try:
            options, names = getopt.gnu_getopt(words, self.cmdparser.get_short(), self.cmdparser.get_long())
        except getopt.GetoptError as error:
            raise InvalidCommand(self._wrong(words, error)) from None
        valued = {name.removesuffix("=") for name in self.cmdparser.get_long() if name.endswith("=")}
        first = [f"{name}={value}" if name.removeprefix("--") in valued else name + value for name, value in options]
        return [*first, *(["--"] if any(name.startswith("-") for name in names) else []), *names]

    def _wrong(self, words: list[str], error: getopt.GetoptError) -> str:
        mark = "--" if f"--{error.opt}" in error.msg else "-"
        word = next((word for word in words if word.partition("=")[0] == mark + error.opt), mark + error.opt)
        known = next((text for part, text in _PROBLEMS.items() if part in error.msg), "")
        if known:
            return two_lines(f"{self.name}: {word}: {known}", self._help())
        longs = [*(name.removesuffix("=") for name in self.cmdparser.get_long()), "help"]
        hint = nearest(error.opt, longs) if mark == "--" else ""
        if not hint and (variable := unknown_option(words)):
            return f"{self.name}: {variable}"
        return two_lines(f"{self.name}: {word}: there is no such option", hint.replace("'", "'--", 1) or self._help())

    def _help(self) -> str:
        return f"gradmill help {self.name} lists the options"


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
