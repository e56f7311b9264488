"""The temporary folder of a worker: locked while it lives, so that the next worker removes what a killed one left.

The system releases a lock when its process ends, however it ends. A folder has its name only after it is locked: no
process can take one that another process is creating for an abandoned one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress

try:
    import fcntl
except ImportError:  # the system has no such locks: nothing is taken for abandoned
    fcntl = None  # type: ignore[assignment]

_PREFIX = "gradmill-worker."
_NEW = "gradmill-new-worker."


class Scratch:
    """A new folder in the system's folder for temporary files. OSError if it cannot be created."""

    def __init__(self) -> None:
        for path in _folders():
            _remove_if_abandoned(path)
        new = tempfile.mkdtemp(prefix=_NEW)
        self._lock = _locked(new)
        self.path = os.path.join(os.path.dirname(new), _PREFIX + os.path.basename(new).removeprefix(_NEW))
        os.rename(new, self.path)

    def close(self) -> None:
        """Removes the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _folders() -> Iterator[str]:
    """The folders of this user's processes, dead or alive."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.stat(follow_symlinks=False).st_uid == os.getuid():
                yield entry.path


def _remove_if_abandoned(path: str) -> None:
    lock = _locked(path)
    if lock is not None:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _locked(path: str) -> int | None:
    """A descriptor that holds the lock of a folder. None if another process has it, or if it cannot be locked."""
    if fcntl is None:
        return None
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(folder)
        return None
    return folder
