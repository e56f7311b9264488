"""Options of commands that write a report: in which format, and where to."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.problems.problem import SpecError
from pipeline.query.files import replace_file


def format_option(*formats: str) -> dict[str, Any]:
    """`--format`, one of `formats`; the first is the default."""
    return {
        "name": "format",
        "long": "format",
        "type": str,
        "default": formats[0],
        "choices": [(name, "") for name in formats],
        "help": "how the report is written",
    }


def output_option() -> dict[str, Any]:
    """`--output`, a file to write to."""
    return {"name": "output", "short": "o", "long": "output", "type": str, "default": "", "help": "write to this file"}


def write_output(data: bytes, path: str) -> None:
    """Writes to the file called `path`, to standard output when it is empty."""
    if not path:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        replace_file(path, data)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}", "name a file that can be written") from error
