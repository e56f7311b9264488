"""The process: how it ends, and its own command line."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable
from types import TracebackType


def prepare() -> None:
    """Sets up the process: no garbage collection, because rows have no cycles, not at exit either; a silent end when
    the reader of its output closes the pipe; Ctrl-C without a traceback."""
    gc.disable()
    atexit.register(gc.freeze)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.excepthook = end
    end_in_callbacks(lambda error: end(type(error), error, None))


def end(type_: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The excepthook: reports Ctrl-C without a traceback."""
    if issubclass(type_, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends the process at once
        sys.stdout.flush()
        sys.stderr.write("interrupted: all written files are complete\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGINT)  # Python's own exit would wait until a process reads the queues
    else:
        sys.__excepthook__(type_, error, trace)


def end_in_callbacks(ends: Callable[[KeyboardInterrupt], object]) -> None:
    """Makes Ctrl-C in a callback, such as of an import or after a fork, call `ends`; Python would report it as ignored
    and go on."""

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            ends(unraisable.exc_value)
        else:
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = hook


def own_command() -> list[str]:
    """The command line of this process, to start it again."""
    return [sys.executable, *sys.orig_argv[1:]]
