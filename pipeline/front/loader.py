"""How doit gets gradmill's tasks: from a dodo.py, or, where there is none, from the package itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from doit.cmd_base import DodoTaskLoader, NamespaceTaskLoader
from doit.exceptions import InvalidCommand, InvalidDodoFile

from pipeline.front.config import VARIABLES, Config, read_config
from pipeline.front.hints import unknown_task, unknown_word
from pipeline.front.run.build import Build
from pipeline.problems.problem import SpecError

MISUSED = 3  # doit's exit status for a command line that makes no sense


def variables_of(get_var: Callable[[str, Any], Any]) -> dict[str, str]:
    """The variables of the command line, which doit can be asked for by name. A name that is one letter off is found
    too, to be refused."""
    names = {*VARIABLES, "family", *(near for name in VARIABLES for near in _one_letter_off(name))}
    found = {name: get_var(name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _one_letter_off(name: str) -> set[str]:
    letters = "abcdefghijklmnopqrstuvwxyz_"
    cuts = [(name[:i], name[i:]) for i in range(len(name) + 1)]
    found = {a + b[1:] for a, b in cuts if b} | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    return (
        found | {a + c + b for a, b in cuts for c in letters} | {a + c + b[1:] for a, b in cuts if b for c in letters}
    )


def open_build(
    variables: Mapping[str, str], make: Callable[[Config], Build] = Build, *, stream: TextIO | None = None
) -> Build:
    """The build that variables ask for; doit shows what is wrong with them. What is wrong with the description of a
    set is told on `stream`, or standard error, where `format` asks for another form than text."""
    try:
        config = read_config(variables)
    except SpecError as error:
        _tell(error, variables.get("format", "text"), stream or sys.stderr)
        raise InvalidDodoFile(error.problem + (f"\n  {error.hint}" if error.hint else "")) from None
    sys.stderr.write(config.said)
    return make(config)


def _tell(error: SpecError, format_: str, stream: TextIO) -> None:
    """Ends the process where the mistakes have places, after a report of them in a format that is not text."""
    placed = getattr(error, "placed", ())
    if not placed or format_ == "text":
        return
    from pipeline.problems.formats import FORMATS, written
    from pipeline.problems.report import Report

    if format_ in FORMATS:
        stream.write(written(format_, Report(tuple(placed), len(placed), 0)))
        stream.flush()
        raise SystemExit(MISUSED)


class _Telling:
    """Tells the tasks what the command line asks for."""

    namespace: dict[str, Any]
    cmd_names: list[str]
    _always = False
    _each = False

    def _note(self, options: Any) -> None:
        """Notes what options of the command line say to the tasks."""
        self._always = bool(options.get("always", False))
        self._each = (options.get("verbosity", None) or 0) > 1

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> Any:
        tasks = self.namespace.get("TASKS")
        if tasks is not None:
            tasks.selected = pos_args
            tasks.running = cmd.execute_tasks
            tasks.always = self._always
            tasks.each = self._each
        found = super().load_tasks(cmd, pos_args)  # type: ignore[misc]
        names, problem = [task.name for task in found], ""
        if cmd.execute_tasks:
            problem = unknown_word(pos_args, names, self.cmd_names)
        elif cmd.get_name() == "info" and len(pos_args) == 1:  # doit's own looks a name up and ends in a traceback
            problem = unknown_task(pos_args[0], names)
        if problem:
            raise InvalidCommand(problem)
        return found


class DodoLoader(_Telling, DodoTaskLoader):  # type: ignore[misc]
    """doit's own loader of a dodo.py."""

    def setup(self, opt_values: Any) -> None:
        super().setup(opt_values)
        self._note(opt_values)


class PackageLoader(_Telling, NamespaceTaskLoader):  # type: ignore[misc]
    """The tasks without a dodo.py. `variables` are those of the command line."""

    def __init__(self, variables: Callable[[], Mapping[str, str]]) -> None:
        super().__init__()
        self._variables = variables
        self.build: Build | None = None  # once it is known

    def setup(self, opt_values: Any) -> None:
        from pipeline.front.tasks import namespace

        self._note(opt_values)
        self.build = open_build(self._variables())
        self.namespace = namespace(self.build)
