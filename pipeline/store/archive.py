"""A store as one file, to restore it on another machine: a ZIP archive of a description, the database and the values.

What is packed was verified while it was copied. What is unpacked is compared with the sizes and SHA-256 digests in the
description, and then verified like any store that has no seal, before it replaces anything. Members are deflated, so
that every machine reads them, or compressed with zstd, which takes a third of the time and two thirds of the size.

Others may have made an archive: what it may cost is limited before it is read.
"""

from __future__ import annotations

import errno
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import IO, Annotated

import msgspec
from msgspec import Meta, Struct

from pipeline.io import zstd
from pipeline.io.decoding import decode_json
from pipeline.io.files import create_file, make_way, replacement
from pipeline.io.zips import BoundedZip
from pipeline.query.memo import Name, StoreDamaged
from pipeline.query.store import Snapshot
from pipeline.store.collect import copy_live
from pipeline.store.sqlite import FORMAT, SqliteStore, files_of, install

DESCRIPTION = "gradmill-store.json"  # the first member, in the first bytes of the file
_NAMES = ("rows", "rows.values")  # of the members that follow: the database, the values
_FORMAT = "store/2"
FORMATS = (_FORMAT, FORMAT)  # two versions of gradmill with the same ones read each other's archives
DEFLATE, ZSTD = "deflate", "zstd"  # how members are compressed
_LARGEST = 100_000  # bytes of a description
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of all members: ZIP has none before
_PART = 1 << 20
_DENSEST = 100  # times the size of an archive, at most, is the size of what it has, if that is more than _SMALL bytes
_SMALL = 100_000_000
_MOST = {"rows": 1 << 26, "rows.values": 1 << 30}  # bytes of a member: 6 and 15 times those of all families
_DIRECTORY = 1 << 17  # bytes of a directory, at most: three members take 200, a comment up to 1 << 16
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, MemoryError)
_OF_CONTENTS = (None, errno.EINVAL)  # an OSError for a bad stream, or for an offset before the start of the file


class Origin(Struct, frozen=True):
    """Who made a store, and of what."""

    gradmill: str  # the version
    specs: str  # the name of the set
    release: str


class Part(Struct, frozen=True):
    """One of the packed files."""

    size: Annotated[int, Meta(ge=0)]
    sha256: str


class _Format(Struct, frozen=True):
    """What is the same in the descriptions of all versions: their format, and that of the store."""

    format: str
    store: int


class Description(_Format, frozen=True):
    """What an archive has. `rows`: their number."""

    origin: Origin
    rows: Annotated[int, Meta(ge=0)]
    parts: dict[str, Part]  # uncompressed
    compression: str


class Unusable(Exception):
    """An archive that cannot be unpacked, with the reason."""


def is_archive(head: bytes) -> bool:
    """Whether `head`, the first bytes of a file, begins an archive of a store."""
    return head.startswith(b"PK\x03\x04") and DESCRIPTION.encode() in head[:64]


def pack(
    path: str, scratch: str, file: str, origin: Origin, is_root: Callable[[Name], bool], compression: str = DEFLATE
) -> Description:
    """Writes the rows that the roots of the store at `path` depend on to `file`, atomically. `scratch`: where a
    temporary store may be. StoreDamaged; OSError if there is no store, or something cannot be written."""
    with _scratch_store(scratch) as new:
        old = SqliteStore(path, seals=False)
        copy = SqliteStore(new, seals=False)
        try:
            rows = copy_live(old, copy, is_root)
        finally:
            old.close()
            copy.close()
        if copy.problem or rows is None:
            raise OSError(None, copy.problem or "it is missing, empty, or cannot be read", path)
        members = files_of(new)[: len(_NAMES)]
        parts = {name: part_of(each) for name, each in zip(_NAMES, members)}
        description = Description(_FORMAT, FORMAT, origin, rows[1], parts, compression)
        if not os.path.isdir(os.path.dirname(os.path.abspath(file))):  # it may be a slip: none is created
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), file)
        with replacement(file) as target:
            _write(target, description, dict(zip(_NAMES, members)))
        return description


def unpack(
    file: str,
    scratch: str,
    path: str,
    accepts: Callable[[Mapping[str, bytes]], bool] = lambda inputs: True,
    *,
    is_verified: bool = False,
) -> tuple[Description, Snapshot]:
    """Replaces the store at `path` by the one in `file`, and seals it. Unusable, before anything is replaced, if that
    is damaged or of another format; OSError if something cannot be read or written. `scratch`: as for `pack`.
    `accepts`: whether a store is of use that was made from inputs with these digests, by label. `is_verified`: the
    file as a whole has the SHA-256 that it should have, so that its parts are not hashed, too."""

    def check(snapshot: Snapshot) -> None:
        if not accepts(snapshot.inputs):
            raise Unusable("it was made from other inputs, or by another gradmill, Python or library")

    with _scratch_store(scratch) as new:
        try:
            with BoundedZip(file, _DIRECTORY) as archive:
                description = _description(archive)
                sizes = {name: part.size for name, part in description.parts.items()}
                if sum(sizes.values()) > max(_SMALL, _DENSEST * os.path.getsize(file)):
                    raise Unusable("it has too much for its size")
                if any(size > _MOST[name] for name, size in sizes.items()):
                    raise Unusable("it has more than any set has")
                for name, each in zip(_NAMES, files_of(new)):
                    _extract(archive, name, each, description, hashes=not is_verified)
            return description, install(new, path, check)
        except _UNREADABLE as error:
            raise Unusable(f"it is damaged: {error}" if str(error) else "it is damaged") from None
        except OSError as error:
            if error.errno not in _OF_CONTENTS:
                raise
            raise Unusable(f"it is damaged: {error.strerror or error}") from None
        except StoreDamaged as damage:
            raise Unusable(f"the store in it is damaged ({damage})") from None


def _write(file: IO[bytes], description: Description, members: Mapping[str, str]) -> None:
    """Writes an archive. `members`: the path of each by its name."""
    kind = zipfile.ZIP_DEFLATED if description.compression == DEFLATE else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w") as archive:
        text = msgspec.json.format(msgspec.json.encode(description), indent=1)
        archive.writestr(_member(DESCRIPTION, kind), text)
        for name, path in members.items():
            with open(path, "rb") as source, archive.open(_member(name, kind), "w", force_zip64=True) as target:
                stored = _read(source)
                for data in zstd.compressed(stored) if description.compression == ZSTD else stored:
                    target.write(data)


def _description(archive: zipfile.ZipFile) -> Description:
    """The description of an archive, which has all members and no other. Unusable otherwise."""
    if [member.filename for member in archive.infolist()] != [DESCRIPTION, *_NAMES]:
        raise Unusable("it has other members than an archive of a store")
    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in archive.infolist()):
        raise Unusable("it is compressed in an unknown way")
    try:
        with archive.open(DESCRIPTION) as member:
            data = member.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise Unusable("its description is too long")
        if decode_json(data, _Format) != _Format(_FORMAT, FORMAT):
            raise Unusable("another version of gradmill made it, with another format of the store")
        description = decode_json(data, Description)
    except ValueError as error:
        raise Unusable(f"it is damaged: {error}") from None
    if description.parts.keys() != set(_NAMES):
        raise Unusable("it has other members than an archive of a store")
    if description.compression not in (DEFLATE, ZSTD):
        raise Unusable("it is compressed in an unknown way")
    if description.compression == ZSTD and not zstd.is_usable():
        raise Unusable("it is compressed with zstd: pip install 'gradmill[remote]'")
    return description


def _extract(archive: zipfile.ZipFile, name: str, path: str, description: Description, *, hashes: bool) -> None:
    """Writes a member to `path`. Unusable if it is not the described one: its size and, with `hashes`, its SHA-256."""
    part, size, digest = description.parts[name], 0, sha256()
    with archive.open(name) as source, create_file(path) as target:
        stored = _read(source)
        for data in zstd.decompressed(stored) if description.compression == ZSTD else stored:
            size += len(data)
            if size > part.size:
                break
            if hashes:
                digest.update(data)
            target.write(data)
    if size != part.size or (hashes and digest.hexdigest() != part.sha256):
        raise Unusable(f"it is damaged: {name} does not match the digest in its description")


@contextmanager
def _scratch_store(path: str) -> Iterator[str]:
    """A path at which no files of a store are, before and after."""
    files = files_of(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    for each in files:
        make_way(each)
    try:
        yield path
    finally:
        for each in files:
            with suppress(OSError):
                os.unlink(each)


def part_of(path: str) -> Part:
    """The size and digest of a file."""
    size, digest = 0, sha256()
    with open(path, "rb") as file:
        for data in _read(file):
            size += len(data)
            digest.update(data)
    return Part(size, digest.hexdigest())


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.read(_PART):
        yield data


def _member(name: str, kind: int) -> zipfile.ZipInfo:
    """A member that is the same whenever and by whomever it is written."""
    member = zipfile.ZipInfo(name, _EPOCH)
    member.compress_type = kind
    member.external_attr = 0o644 << 16
    return member
