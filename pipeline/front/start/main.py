"""`gradmill`: doit's own main, with gradmill's tasks and commands, in any folder."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import TracebackType
from typing import Any

from doit.doit_cmd import DoitMain
from doit.plugin import PluginDict, PluginEntry

from pipeline.front.console import summary, up_to_date
from pipeline.front.doit.loader import MISUSED, PackageLoader
from pipeline.front.doit.plugins import PLAIN_RUN, PLUGINS
from pipeline.front.run.answer import command_of, is_plain
from pipeline.front.run.build import Build
from pipeline.front.run.record import Answer, Made
from pipeline.front.settings.config import read_config
from pipeline.front.settings.hints import SCRIPTS, empty_word, odd_word, unknown_option, unknown_variable
from pipeline.front.settings.reader import read_settings, settings_report
from pipeline.io.files import evidence, stat_of
from pipeline.problems.plain import message_of
from pipeline.problems.problem import SpecError

SHOW = "--show-settings"


class Main(DoitMain):  # type: ignore[misc]
    """doit's main, which passes all variables of the command line to the loader."""

    BIN_NAME = "gradmill"

    def __init__(self) -> None:
        self._variables: dict[str, str] = {}
        self._plain = False
        self.package = PackageLoader(lambda: self._variables)
        super().__init__(self.package, config_filenames=(), extra_config=PLUGINS)

    def process_args(self, cmd_args: list[str]) -> list[str]:
        assignments = [word for word in cmd_args if "=" in word and not word.startswith("-")]
        self._variables.update((name, value) for name, _, value in (word.partition("=") for word in assignments))
        rest: list[str] = super().process_args(cmd_args)
        return rest

    def get_cmds(self) -> Any:
        """The commands. For a command line of variables alone: only `run`, without a search for plugins."""
        if not self._plain:
            return super().get_cmds()
        return PluginDict(run=PluginEntry("COMMAND", "run", PLAIN_RUN))

    def run(self, all_args: list[str]) -> Any:
        all_args = _with_values(_without_flags(all_args))
        problem = empty_word(all_args) or unknown_option(all_args, exact=True) or unknown_variable(all_args)
        problem = problem or odd_word(word for word in all_args if word.startswith("-") or "=" not in word)
        if problem:
            sys.stderr.write(f"ERROR: {problem}\n")
            return 3
        self._plain = is_plain(all_args)
        return super().run(all_args)


def _without_flags(words: list[str]) -> list[str]:
    """The command line, as one of the commands `help` or `version` if it has their flag."""
    if words == ["--version"]:
        return ["version"]
    if "--help" not in words and "-h" not in words:
        return words
    first = next((word for word in words if not word.startswith("-") and "=" not in word), "")
    return ["help", first] if first else ["help"]


def _with_values(words: list[str]) -> list[str]:
    """The command line, in which no value of a script's option is taken for a variable."""
    name = next((word for word in words if word in SCRIPTS), "")
    if not name or (all(words) and not any("=" in word for word in words)):
        return words
    module, _, command = PLUGINS["COMMAND"][name].partition(":")
    joined: list[str] = getattr(import_module(module), command).arguments().joined(words)
    return joined


def prepare() -> None:
    """Sets up the process: no garbage collection, because rows have no cycles, not at exit either; a silent end when
    the reader of its output closes the pipe; Ctrl-C without a traceback."""
    gc.disable()
    atexit.register(gc.freeze)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.excepthook = _end
    end_in_callbacks(lambda error: _end(type(error), error, None))


def _end(type_: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The excepthook: reports Ctrl-C without a traceback."""
    if issubclass(type_, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends the process at once
        sys.stdout.flush()
        sys.stderr.write("interrupted: all written files are complete\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGINT)  # Python's own exit would wait until a process reads the queues
    else:
        sys.__excepthook__(type_, error, trace)


def end_in_callbacks(end: Callable[[KeyboardInterrupt], object]) -> None:
    """Makes Ctrl-C in a callback, such as of an import or after a fork, call `end`; Python would report it as ignored
    and go on."""

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            end(unraisable.exc_value)
        else:
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = hook


def main(arguments: list[str] | None = None) -> Any:
    """Runs `gradmill`; returns the exit status. `arguments`: by default those of the process."""
    prepare()
    words = sys.argv[1:] if arguments is None else arguments
    program = Main()
    try:
        if SHOW in words:
            return show_settings([word for word in words if word != SHOW])
        status = program.run(words)
        if not status and is_plain(words) and program.package.build is not None:
            keep_answer(program.package.build, words)
        return status
    except KeyboardInterrupt as error:
        _end(type(error), error, None)
        return 130


def show_settings(words: list[str]) -> int:
    """Prints the settings of a command line; returns the exit status."""
    problem = unknown_variable(words)
    try:
        given = dict(word.split("=", 1) for word in words if "=" in word[1:] and word[0] != "-")
        text = "" if problem else settings_report(read_settings(given))
    except SpecError as error:
        problem = message_of(error)
    sys.stderr.write(f"ERROR: {problem}\n") if problem else sys.stdout.write(text)
    return MISUSED if problem else 0


def own_command() -> list[str]:
    """The command line of this process, to start it again."""
    return [sys.executable, *sys.orig_argv[1:]]


def restart() -> None:
    """Replaces this process by a new one with the same command line."""
    os.execv(sys.executable, own_command())  # noqa: S606


# ---- the answer of a complete run to the same command line, as long as nothing has changed


def keep_answer(build: Build, words: list[str]) -> None:
    """Adds the answer to a plain command line to the record of its complete run. Other runs leave no answer."""
    last = build.record
    if last is None or not last.made.complete:
        return
    # A new file in one of these folders may change the set: take their stats before the set is resolved again.
    graphs = [build.config.graphs.root] if build.config.graphs.root else []
    given = dict(word.split("=", 1) for word in words)
    with suppress(SpecError):
        before, now = read_settings(given), build.inputs.now()
        folders = (*build.config.specs.looked_for, *before.looked_for, *graphs, *sys.path)
        stats = {path: evidence(stat_of(path), now) for path in folders}
        settings = read_settings(given)
        same = settings.looked_for == before.looked_for and read_config(settings) == build.config
        if same and "stamp" not in settings:
            warnings = settings.notice + build.config.release_warning + last.made.report
            out, error = (text.encode("utf-8", "surrogateescape") for text in (_output_of(build, last.made), warnings))
            build.keep_answer(Answer(command_of(words), out, error, stats))


def _output_of(build: Build, made: Made) -> str:
    """The standard output of doit when every task is up to date."""
    stages = [f"-- {stage}\n" for stage in build.stages.analysis]
    units = [up_to_date("emit", made.units, "unit")] if made.units else []
    files = [up_to_date("shard", len(made.files), "file")] if made.files else []
    end = [summary(sum(made.files.values()), build.config.generated, 0)] if made.files else []
    return "".join((*stages, *units, *files, "-- manifest\n", *end))
