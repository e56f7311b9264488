"""What is being done right now, on a terminal: one line, rewritten, and gone when something lasting is printed.

Nothing of it goes anywhere else than to a terminal.
"""

from __future__ import annotations

import os
import time
from typing import Any

from pipeline.problems.plain import line

_PAUSE = 0.05  # seconds between two lines: nobody reads faster
_ERASE = "\r\033[K"


class Progress:
    """The line of one stream; silent where that is no terminal that can erase."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.on = bool(getattr(stream, "isatty", lambda: False)()) and os.environ.get("TERM") != "dumb"
        self._shown = False
        self._next = 0.0

    def show(self, text: str) -> None:
        """Says what is being done, in place of what was said before."""
        if not self.on or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PAUSE
        self._stream.write(f"{_ERASE}{line(text)[: _width(self._stream) - 1]}")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._shown = False


def _width(stream: Any) -> int:
    """The columns of a terminal."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80
