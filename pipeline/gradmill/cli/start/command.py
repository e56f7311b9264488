"""The `gradmill` command: prints the answer of a record if nothing has changed, else reads the command line."""

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
            return _run(words)
        except KeyboardInterrupt:  # while modules are loaded; afterwards `request.main` handles it
            sys.stderr.write("interrupted: all written files are complete\n")
            return 130
    out, error = answer
    sys.stdout.buffer.write(out)
    sys.stderr.buffer.write(_painted(error, words) if error else error)
    return 0


def _run(words: list[str]) -> int:
    import gc

    gc.disable()  # the many imports leave no garbage
    _import_msgspec()
    from gradmill.cli.commands.request import main as run_command

    return run_command(words)


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
