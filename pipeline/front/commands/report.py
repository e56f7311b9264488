"""Options of commands that write a report: in which format, and where to."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from pipeline.front.output.ownership import identities, refusal, refused, says
from pipeline.front.run.build import Build
from pipeline.io.files import replace_file
from pipeline.problems import plain
from pipeline.problems.problem import SpecError


def format_option(*formats: str) -> dict[str, Any]:
    """`--format`, one of `formats`; without it, what the variable `format` says."""
    return {
        "name": "format",
        "long": "format",
        "type": str,
        "default": "",
        "choices": [(name, "") for name in formats],
        "help": "how the report is written, whatever format= says of problems",
    }


def format_of(options: dict[str, Any], build: Build) -> str:
    """In which format a report is to be written: text or JSON, or another one that an option asks for. The other
    values of the variable `format` are for problems."""
    return options["format"] or ("json" if build.config.format == "json" else "text")


def json_text(value: Any) -> bytes:
    """A value as JSON for people and programs, with a line end."""
    return plain.json_text(msgspec.json.format(msgspec.json.encode(value), indent=2)).encode()


def output_option() -> dict[str, Any]:
    """`--output`, a file to write to."""
    return {"name": "output", "short": "o", "long": "output", "type": str, "default": "", "help": "write to this file"}


def write_output(build: Build, data: bytes, path: str) -> None:
    """Writes to the file called `path`, to standard output when it is empty; SpecError where it is an input, or no
    file. A file that is there is written over, as its name was given for that."""
    if not path:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    if problem := refusal(path, identities(build.inputs.spec_paths()), says(b"")):
        raise refused(path, problem, "--output FILE")
    try:
        replace_file(path, data)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}", "name a file that can be written") from error
