"""A progress line on a terminal. It is rewritten in place, and erased before permanent output is printed.

Nothing is written if the stream is not a terminal.
"""

from __future__ import annotations

import os
import time
from typing import Any

from pipeline.problems.plain import line

_PAUSE = 0.05  # seconds between two updates: faster ones cannot be read
_ERASE = "\r\033[K"


class Progress:
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
