"""What a run prints about its units and files, one line per stage, with names if there are few; and a progress line.

The progress line is on a terminal alone. It is rewritten in place, and erased before permanent output is printed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any, TextIO

from gradmill.problems.plain import line, lines

FEW = 8  # names that fit on a line
_PAUSE = 0.05  # seconds between two updates: faster ones cannot be read
_ERASE = "\r\033[K"


def done(stage: str, names: Sequence[str], count: int, what: str) -> str:
    """The line for rebuilt units or files: their names, or their count."""
    few = len(names) == count <= FEW
    return lines([f".  {stage}: {', '.join(names) if few else counted(count, what)}"])


def up_to_date(stage: str, count: int, what: str) -> str:
    """The line for units or files that were up to date: their count."""
    return f"-- {stage}: {counted(count, what)}\n"


def summary(files: int, folder: str, changed: int, seconds: float | None = None, removed: int = 0) -> str:
    """The last line of a run: the number of generated files, how many changed, and how many others were deleted.
    `seconds`: the time of a run that had work to do."""
    took = "" if seconds is None else f", {seconds:.1f} s"
    gone = f"; {removed} removed" if removed else ""
    return lines([f"{counted(files, 'file')} in {folder}{took}; {changed or 'none'} changed{gone}"])


def counted(count: int, what: str) -> str:
    """A count with its noun: `1 file`, `2 files`."""
    many = f"{what.removesuffix('y')}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else many}"


def print_report(report: str, format_: str, stream: TextIO | None = None) -> None:
    """Writes a report to `stream`, by default standard error; in colour if that is a terminal."""
    if report:
        from gradmill.problems.color import painted

        stream = stream or sys.stderr
        stream.write(painted(report, stream, format_))
        stream.flush()


class Terminal:
    """The progress line of one stream. Silent unless the stream is a terminal that can erase a line."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.on = bool(getattr(stream, "isatty", lambda: False)()) and os.environ.get("TERM") != "dumb"
        self._shown = False
        self._next = 0.0

    def show(self, text: str) -> None:
        """Replaces the progress line with `text`. Skips updates that follow too fast."""
        if not self.on or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PAUSE
        self._stream.write(f"{_ERASE}{line(text)[: _width(self._stream) - 1]}")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Erases the progress line."""
        if self._shown:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._shown = False


def _width(stream: Any) -> int:
    """The width of a terminal in columns, 80 if unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80
