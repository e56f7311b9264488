"""Colours for reports on a terminal. Colours are added to the finished text, so the stored report of a run is plain.

`NO_COLOR` (no-color.org) and `FORCE_COLOR` (force-color.org) decide if they are not empty; `NO_COLOR` wins.
"""

from __future__ import annotations

import os
import re
from typing import TextIO

_RED, _MAGENTA, _CYAN, _GREEN, _BOLD, _END = (f"\033[{code}m" for code in ("1;31", "1;35", "36", "1;32", "1", "0"))

_LEVELS = {"error": _RED, "warning": _MAGENTA}
_HEAD = re.compile(r"(?P<place>.*?): (?P<level>error|warning): (?P<rest>.*)")
_SOURCE = re.compile(r" *\d* \| ")
_COUNT = re.compile(r"\d+ (error|warning)s?\b")


def wants_color(stream: TextIO) -> bool:
    """Whether text written to `stream` should have colours."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def painted(text: str, stream: TextIO, format_: str = "text") -> str:
    """A report, with colours if `stream` wants them and the format is text."""
    if not text or format_ != "text" or not wants_color(stream):
        return text
    return "".join(map(_line, text.splitlines(keepends=True)))


def _line(line: str) -> str:
    body = line.rstrip("\n")
    end = line[len(body) :]
    if (source := _SOURCE.match(body)) is not None:
        rest = body[source.end() :]
        shown = f"{_GREEN}{rest}{_END}" if rest.strip() == "^" else rest
        return f"{_CYAN}{source.group()}{_END}{shown}{end}"
    if body.startswith("  hint: "):
        return f"  {_CYAN}hint:{_END}{body[7:]}{end}"
    head = _HEAD.fullmatch(body)
    if head is not None:
        level = head["level"]
        return f"{_BOLD}{head['place']}:{_END} {_LEVELS[level]}{level}:{_END} {head['rest']}{end}"
    count = _COUNT.match(body)
    return f"{_LEVELS[count.group(1)]}{body}{_END}{end}" if count is not None else line
