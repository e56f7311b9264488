"""A process that has loaded the installed torchgen.gen: runs it in copies of itself, a line of JSON for each."""

from __future__ import annotations

import json
import os
import sys
import traceback


def run(folder: str, words: list[str]) -> str:
    """Runs torchgen.gen with these words in a folder. What it printed if it failed, else ""."""
    from torchgen import gen

    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        with os.fdopen(reader, errors="replace") as printed:
            text = printed.read()
        return (text or "it failed") if os.waitpid(process, 0)[1] else ""
    status = 1
    try:
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        sys.modules["__main__"].__file__ = gen.__file__  # which generated files name
        os.chdir(folder)
        sys.argv = ["gen.py", *words]
        gen.main()
        status = 0
    except SystemExit as stop:
        status = 1 if stop.code else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    import torchgen.gen  # noqa: F401

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        folder, *words = json.loads(line)
        answers.write(json.dumps(run(folder, words)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
