"""`gradmill`: doit's own main, with gradmill's tasks and commands, in whatever folder."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from types import TracebackType
from typing import Any

from doit.doit_cmd import DoitMain
from doit.plugin import PluginDict, PluginEntry

from pipeline.front.doit.loader import PackageLoader
from pipeline.front.doit.plugins import PLAIN_RUN, PLUGINS
from pipeline.front.settings.hints import empty_word, odd_word, unknown_option, unknown_variable
from pipeline.front.start.answer import is_plain
from pipeline.front.start.unchanged import note_unchanged


class Main(DoitMain):  # type: ignore[misc]
    """doit, which tells the loader all variables of the command line."""

    BIN_NAME = "gradmill"

    def __init__(self) -> None:
        self._variables: dict[str, str] = {}
        self._plain = False
        self.package = PackageLoader(lambda: self._variables)
        super().__init__(self.package, config_filenames=(), extra_config=PLUGINS)

    def process_args(self, cmd_args: list[str]) -> list[str]:
        given = [word for word in cmd_args if "=" in word and not word.startswith("-")]
        self._variables.update((name, value) for name, _, value in (word.partition("=") for word in given))
        rest: list[str] = super().process_args(cmd_args)
        return rest

    def get_cmds(self) -> Any:
        """The commands; for variables alone, only what runs all tasks, without a search for plugins."""
        if not self._plain:
            return super().get_cmds()
        return PluginDict(run=PluginEntry("COMMAND", "run", PLAIN_RUN))

    def run(self, all_args: list[str]) -> Any:
        problem = empty_word(all_args) or unknown_option(all_args, exact=True) or unknown_variable(all_args)
        problem = problem or odd_word(word for word in all_args if word.startswith("-") or "=" not in word)
        if problem:
            sys.stderr.write(f"ERROR: {problem}\n")
            return 3
        self._plain = is_plain(all_args)
        return super().run(all_args)


def prepare() -> None:
    """What the process needs: no search for garbage, as rows are trees, at its end neither; a quiet end when nobody
    reads its output."""
    gc.disable()
    atexit.register(gc.freeze)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.excepthook = _end
    sys.unraisablehook = _end_where_nobody_can_be_told


def _end(type_: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What Python says at the end of a process: of Ctrl-C no traceback."""
    if issubclass(type_, KeyboardInterrupt):
        sys.stdout.flush()
        sys.stderr.write("interrupted: what was written is whole\n")
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)  # Python would wait for whoever was to read what is left in queues
    else:
        sys.__excepthook__(type_, error, trace)


def _end_where_nobody_can_be_told(unraisable: sys.UnraisableHookArgs) -> None:
    """The same where Python would say that Ctrl-C is ignored and go on: in a callback, as right after a fork."""
    if unraisable.exc_value is not None and issubclass(unraisable.exc_type, KeyboardInterrupt):
        _end(unraisable.exc_type, unraisable.exc_value, None)
    else:
        sys.__unraisablehook__(unraisable)


def main(arguments: list[str] | None = None) -> Any:
    """Runs `gradmill`; gives the exit status."""
    prepare()
    words = sys.argv[1:] if arguments is None else arguments
    program = Main()
    try:
        status = program.run(words)
        if not status and is_plain(words) and program.package.build is not None:
            note_unchanged(program.package.build, words)
        return status
    except KeyboardInterrupt as error:
        _end(type(error), error, None)
        return 130


def restart() -> None:
    """Replaces this process by a new one with the same command line."""
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606
