"""The `gradmill` command: prints the answer of a record if nothing has changed, else runs doit's own main."""

import os
import sys

from pipeline.front.run.answer import answer_to, is_plain

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
        except KeyboardInterrupt:  # while modules are loaded; afterwards `start.main` handles it
            sys.stderr.write("interrupted: all written files are complete\n")
            return 130
    out, error = answer
    sys.stdout.buffer.write(out)
    sys.stderr.buffer.write(_painted(error, words) if error else error)
    return 0


def _run(words: list[str]) -> int:
    """Runs doit; returns the exit status."""
    import gc

    gc.disable()  # the many imports leave no garbage
    if is_plain(words):
        _import_doit_without_plugins()
    from pipeline.front.start.main import main as run_doit

    return int(run_doit(words) or 0)


def _import_doit_without_plugins() -> None:
    """Imports doit such that it finds no plugins of other packages: a plain command line can use none, and to look for
    them takes 40 ms."""
    from types import ModuleType

    if "importlib.metadata" in sys.modules:
        return
    finder = ModuleType("importlib.metadata")
    finder.entry_points = lambda **_: ()  # type: ignore[attr-defined]
    sys.modules[finder.__name__] = finder
    try:
        import doit.plugin  # noqa: F401
    finally:
        del sys.modules[finder.__name__]


def _painted(report: bytes, words: list[str]) -> bytes:
    """The stored report, which has no colours, in colour if standard error is a terminal."""
    from pipeline.problems.color import painted

    named = [word[7:] for word in words if word.startswith("format=")]
    text = painted(report.decode("utf-8", "surrogateescape"), sys.stderr, named[-1] if named else "text")
    return text.encode("utf-8", "surrogateescape")
