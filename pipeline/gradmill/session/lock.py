"""One run at a time writes to the cache of a set. Another run waits, for a limited time, and then reuses its results.

The lock is on a file in the cache; the system releases it when the process ends. If the file or the lock is not
possible, runs go on without it: each gives the right result, and the store keeps the results of the first to commit.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress

try:
    import fcntl
except ImportError:  # the system has no such locks
    fcntl = None  # type: ignore[assignment]

from gradmill.io.files import open_lock

LIMIT = 60.0  # seconds that a run waits for others
_STEP = 0.02
_IN_USE = (errno.EACCES, errno.EAGAIN)


class Lock:
    """The lock of a folder."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: int | None = None

    def take(self, warn: Callable[[str], object]) -> bool:
        """Takes the lock, if one is possible; waits up to `LIMIT` seconds while another process has it, and reports
        that to `warn`. Returns whether it had to wait."""
        if not self.try_to_take():
            warn(f"waiting for another run, which has locked {self.path}\n")
            end = time.monotonic() + LIMIT
            while not self.try_to_take():
                if time.monotonic() > end:
                    warn(f"{self.path} is still locked after {LIMIT:.0f} s: going on without it\n")
                    break
                time.sleep(_STEP)
            return True
        return False

    def try_to_take(self) -> bool:
        """Takes the lock without waiting. False if another process has it."""
        if self._file is not None or fcntl is None:
            return True
        try:
            file = open_lock(self.path)
        except OSError:
            return True
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(file)
            return error.errno not in _IN_USE
        self._file = file
        return True

    def release(self) -> None:
        """Releases the lock."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None
