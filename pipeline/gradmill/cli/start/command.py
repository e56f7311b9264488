"""The `gradmill` command: prints the answer of a record if nothing has changed, else reads the command line. And how
the process ends, also for doit."""

import os
import sys

from gradmill.session.answer import answer_to, is_plain

_UNREAD = 141  # a shell's exit status for a process that SIGPIPE ended


def run() -> None:
    """The entry point of the command. Exits without the interpreter's cleanup."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # the reader closed the pipe
        status = _UNREAD
    except OSError as error:
        sys.stderr.write(f"ERROR: {error.filename or 'standard output'}: {error.strerror}\n")
        status = 3
    os._exit(status)


def main(words: list[str]) -> int:
    """Runs a command line; returns the exit status."""
    answer = answer_to(words) if is_plain(words) else None
    if answer is None:
        try:
            prepare()
            _import_msgspec()
            return dispatch(words)
        except KeyboardInterrupt:
            return _interrupted()
    out, error = answer
    sys.stdout.buffer.write(out)
    sys.stderr.buffer.write(_painted(error, words) if error else error)
    return 0


def dispatch(words: list[str]) -> int:
    """Calls the command of a command line; returns the exit status: 0, 1 if the specs have errors, or 3 if the command
    line is wrong or something in its way."""
    from gradmill.cli.commands.request import MISUSED, RUN, Failed, Request, print_report
    from gradmill.problems.plain import text_of
    from gradmill.problems.problem import SpecError
    from gradmill.session.own_code import CodeChanged

    try:
        if all("=" in word and not word.startswith("-") for word in words):  # most: without the table of commands
            from gradmill.cli.commands.run import main

            return main(Request(RUN, variables=dict(word.split("=", 1) for word in words), line=words))
        from gradmill.cli.commands.command_line import main_of, read

        return main_of(request := read(words))(request)
    except Failed as failed:
        print_report(failed.report, failed.format, failed.stream)
        return failed.status
    except (SpecError, CodeChanged, OSError) as error:
        sys.stdout.flush()
        sys.stderr.write(f"{'' if isinstance(error, CodeChanged) else 'ERROR: '}{text_of(error)}\n")
        return MISUSED


def prepare() -> None:
    """Sets up the process: no garbage collection, because rows and imports leave no cycles, not at exit either; a
    silent end when the reader of its output closes the pipe; Ctrl-C without a traceback, also in callbacks, such as of
    an import or after a fork, where Python would report it as ignored and go on."""
    import atexit
    import gc
    import signal

    gc.disable()
    atexit.register(gc.freeze)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.excepthook = lambda *error: _interrupted() if _is_interrupt(error[1]) else sys.__excepthook__(*error)
    sys.unraisablehook = lambda about: (
        _interrupted() if _is_interrupt(about.exc_value) else sys.__unraisablehook__(about)
    )


def _is_interrupt(error: BaseException | None) -> bool:
    return isinstance(error, KeyboardInterrupt)


def _interrupted() -> int:
    """Ends the process as Ctrl-C would, without a traceback."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends the process at once
    sys.stdout.flush()
    sys.stderr.write("interrupted: all written files are complete\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGINT)  # Python's own exit would wait until a process reads the queues
    return 130


def _import_msgspec() -> None:
    """Imports msgspec without `typing_extensions`, from which it takes what Python's own typing has, too: where that is
    installed, its import is a tenth of an edit."""
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        import msgspec  # noqa: F401

        del sys.modules["typing_extensions"]


def _painted(report: bytes, words: list[str]) -> bytes:
    """The stored report, which has no colours, in colour if standard error is a terminal."""
    from gradmill.problems.color import painted

    named = [word[7:] for word in words if word.startswith("format=")]
    text = painted(report.decode("utf-8", "surrogateescape"), sys.stderr, named[-1] if named else "text")
    return text.encode("utf-8", "surrogateescape")
