"""The record of a run, a file in the cache: which files it read and wrote."""

import os

import msgspec
from msgspec import Struct

from gradmill.io.checked import checked, with_checksum
from gradmill.io.files import Stat, put_file, read_file
from gradmill.query.memo import MISSING, StoreDamaged, decode
from gradmill.session.output.outputs import Written

_FORMAT = b"record/6"


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
