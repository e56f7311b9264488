"""The `gradmill` command: answered from a note where nothing has changed, else doit's own main."""

import os
import sys

from pipeline.front.start.answer import answer_to, is_plain

_UNREAD = 141  # what a shell says of a process that SIGPIPE ended


def run() -> None:
    """The command: leaves without tidying up a process that ends anyway."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # nobody reads it
        status = _UNREAD
    except OSError as error:
        sys.stderr.write(f"ERROR: {error.filename or 'standard output'}: {error.strerror}\n")
        status = 3
    os._exit(status)


def main(words: list[str]) -> int:
    """Does what a command line asks for; gives the exit status."""
    answer = answer_to(words) if is_plain(words) else None
    if answer is None:
        try:
            return _run(words)
        except KeyboardInterrupt:  # while modules are loaded: what is loaded then sees to it
            sys.stderr.write("interrupted: what was written is whole\n")
            return 130
    out, error = answer
    sys.stdout.buffer.write(out)
    sys.stderr.buffer.write(_painted(error, words) if error else error)
    return 0


def _run(words: list[str]) -> int:
    """A whole run of doit."""
    import gc

    from pipeline.front.start.lazy import import_lazily

    gc.disable()  # the many imports make no garbage
    if not any(word == "lsp" or word.endswith("thread") for word in words):  # else the process has threads
        import_lazily()
    from pipeline.front.start.main import main as run_doit

    return int(run_doit(words) or 0)


def _painted(report: bytes, words: list[str]) -> bytes:
    """What was noted is plain; where it is to be in colour depends on where it goes."""
    from pipeline.problems.color import painted

    named = [word[7:] for word in words if word.startswith("format=")]
    text = painted(report.decode("utf-8", "surrogateescape"), sys.stderr, named[-1] if named else "text")
    return text.encode("utf-8", "surrogateescape")
