"""The `gradmill` command: answered from a note where nothing has changed, else doit's own main."""

import os
import sys

from pipeline.front.start.answer import answer_to, is_plain


def run() -> None:
    """The command: leaves without tidying up a process that ends anyway."""
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main(words: list[str]) -> int:
    """Does what a command line asks for; gives the exit status."""
    answer = answer_to(words) if is_plain(words) else None
    if answer is None:
        from pipeline.front.start.deferred import defer, defer_metadata

        defer()
        if is_plain(words):
            defer_metadata()
        from pipeline.front.main import main as run_doit

        return int(run_doit(words) or 0)
    for stream, text in zip((sys.stdout, sys.stderr), answer):
        stream.buffer.write(text)
    return 0
