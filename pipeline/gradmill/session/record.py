"""What the runs of a set leave in its folder of the cache: of each configuration a record of the last one: what it read
and wrote. They write under a lock: another run waits, for a limited time, and then reuses the results.

The system releases the lock when the process ends. If its file or the lock is not possible, runs go on without it: each
gives the right result, and the store keeps the results of the first to commit.
"""

import errno
import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec
from msgspec import Struct

from gradmill.io.checked import checked, with_checksum
from gradmill.io.files import Stat, open_lock, put_file, read_file
from gradmill.query.memo import MISSING, StoreDamaged, decode
from gradmill.session.output.outputs import Written

_FORMAT = b"record/6"
LIMIT = 60.0  # seconds that a run waits for others
_STEP = 0.02
_IN_USE = (errno.EACCES, errno.EAGAIN)


class Record(Struct, frozen=True):
    """One run of one configuration. `stats`: of the files that it read, gradmill's own among them, and of the store;
    `outputs`: those that it left; `complete`: it wrote everything, without an error; `code`: `OwnCode.note`."""

    stats: dict[str, Stat | None]
    outputs: dict[str, Written]
    complete: bool
    code: bytes = b""

    def files(self) -> dict[str, Stat | None]:
        """The stats of all files, by path: first those that it read."""
        return {**self.stats, **{path: written.stat for path, written in self.outputs.items()}}


class _Stored(Struct, frozen=True, array_like=True):
    """The same, in the file."""

    paths: bytes  # with NULs between them: first those of outputs
    stats: list[Stat | None]
    digests: bytes  # of the outputs
    complete: bool
    code: bytes


_decoder = msgspec.msgpack.Decoder(_Stored)
_DIGEST = len(MISSING)


def load(path: str) -> Record | None:
    """The record in a file, None if it is missing or damaged."""
    form, _, data = (checked(read_file(path) or b"") or b"").partition(b" ")
    try:
        stored = decode(_decoder, data if form == _FORMAT else b"")
    except StoreDamaged:
        return None
    paths = os.fsdecode(stored.paths).split("\0")
    if len(paths) != len(stored.stats):
        return None
    digests = [stored.digests[at : at + _DIGEST] for at in range(0, len(stored.digests), _DIGEST)]
    outputs = {path: Written(stat, digest) for path, stat, digest in zip(paths, stored.stats, digests) if stat}
    return Record(dict(list(zip(paths, stored.stats))[len(digests) :]), outputs, stored.complete, stored.code)


def save(path: str, record: Record) -> str:
    """Writes a record to a file; returns why it cannot be written, "" if it was."""
    stats = {path: written.stat for path, written in record.outputs.items()} | record.stats
    digests = b"".join(written.digest for written in record.outputs.values())
    paths = os.fsencode("\0".join(stats))
    data = msgspec.msgpack.encode(_Stored(paths, [*stats.values()], digests, record.complete, record.code))
    try:
        put_file(path, with_checksum(b"%b %b" % (_FORMAT, data)))
    except OSError as error:
        return f"{os.path.dirname(path)}: {error.strerror}"
    return ""


class Lock:
    """The lock of a folder."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: int | None = None

    def take(self, warn: Callable[[str], object]) -> bool:
        """Takes the lock, if one is possible; waits up to `LIMIT` seconds while another process has it, and reports
        that to `warn`. Returns whether it had to wait."""
        if self.try_to_take():
            return False
        warn(f"waiting for another run, which has locked {self.path}\n")
        end = time.monotonic() + LIMIT
        while not self.try_to_take():
            if time.monotonic() > end:
                warn(f"{self.path} is still locked after {LIMIT:.0f} s: going on without it\n")
                break
            time.sleep(_STEP)
        return True

    def try_to_take(self) -> bool:
        """Takes the lock without waiting. False if another process has it."""
        if self._file is not None:
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
