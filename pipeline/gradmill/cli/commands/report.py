"""What commands that write a report share: its format and its file."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from gradmill.io.files import replace_file
from gradmill.problems import plain
from gradmill.problems.problem import SpecError
from gradmill.session.output.ownership import has_mark, identities, refusal, refused
from gradmill.session.session import Session


def format_of(options: dict[str, Any], build: Session) -> str:
    """The format of a report: that of the option, else "json" if the variable `format` has it, else "text". The other
    values of the variable apply to problems alone."""
    return options["format"] or ("json" if build.config.format == "json" else "text")


def json_text(value: Any) -> bytes:
    """A value as indented JSON with a final line end."""
    return plain.json_text(msgspec.json.format(msgspec.json.encode(value), indent=2)).encode()


def write_output(build: Session, data: bytes, path: str) -> None:
    """Writes `data` to the file `path`, or to standard output if `path` is empty. Replaces an existing file. Raises
    SpecError if the path is an input or cannot be written."""
    if not path:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    if problem := refusal(path, identities(build.inputs.spec_paths()), has_mark(b"")):
        raise refused(path, problem, "--output FILE")
    try:
        replace_file(path, data)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}", "name a file that can be written") from error
