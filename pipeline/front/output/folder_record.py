"""The record of the files that gradmill wrote to an output folder, `.gradmill/written` in this folder. That of a tree,
which other builds share, is in the cache.

It recognizes these files whatever happens to the cache: damaged, deleted, an older copy, another one. Each line has a
checksum and a JSON list. The first line has the format, the number of lines that the last complete run wrote, and the
place of its spec set, which owns the folder; each other one has the path of a file below the folder (in the record of a
tree, below the root) and the XXH3 digest of its bytes. The place is relative to the folder: it names no machine, and
moves with the project.

A run appends a line before it writes a file, and removes none before its end: after a kill at any point, each file of
gradmill's has a line with its digest. A complete run ends by replacing the record.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from typing import TypeVar

import msgspec
from msgspec import Struct

from pipeline.io.checked import checked, with_checksum
from pipeline.io.files import is_file, open_file, read_file, remove_empty, replace_file

FILES = _NAME, _IGNORE = "written", ".gitignore"
_FOLDER = ".gradmill"
_ALL = b"*\n"  # in the .gitignore
_FORMAT = "written/2"
_HEAD = 8192  # bytes that the first line has at most

_NOWHERE = frozenset({"", os.curdir, os.pardir})  # what no part of a path may be
_encoder = msgspec.json.Encoder()

Pair = tuple[str, str]  # a path below the folder, with "/", and the digest of a file's bytes, in hex
_heads, _pairs = msgspec.json.Decoder(tuple[str, int, str]), msgspec.json.Decoder(Pair)
T = TypeVar("T")


class _Contents(Struct):
    """The contents of a record. `is_intact`: it exists, and no line of it is damaged or missing."""

    digests: dict[str, set[bytes]]  # by the path of the file below the folder
    owner: str = ""
    is_intact: bool = False


class FolderRecord:
    """The record of one output folder. `path`: its file, "" for the one in the folder."""

    def __init__(self, folder: str, path: str = "") -> None:
        self._named = folder
        self._path = path
        self._read: _Contents | None = None
        self.is_as_left = False  # whether it is known to be as the last complete run left it

    @cached_property
    def folder(self) -> str:
        """The output folder, with links resolved."""
        return os.path.realpath(self._named)

    @cached_property
    def _inside(self) -> str:
        """The folder of all recorded files. Some files of a tree are outside of its folder."""
        return os.path.join(os.path.abspath(os.sep) if self._path else self.folder, "")

    @cached_property
    def path(self) -> str:
        """The file of the record."""
        return self._path or os.path.join(self.folder, _FOLDER, _NAME)

    @property
    def problem(self) -> tuple[str, str] | None:
        """The path where the output folder or that of the record cannot be, and why; None if they can."""
        if os.path.exists(self._named) and not os.path.isdir(self._named):
            return self._named, "not a directory"
        at = os.path.dirname(self.path)
        if self._path or not os.path.lexists(at) or (os.path.isdir(at) and not os.path.islink(at)):
            return None
        return at, "gradmill keeps the record of its files in a folder of this name, but this is not one"

    @property
    def is_intact(self) -> bool:
        """Whether the record exists, and no line of it is damaged or missing."""
        return self._contents.is_intact

    @property
    def owner(self) -> str:
        """The spec set of the last complete run, as `SpecSet.owner` has it; "" if it is not known. Reads one line."""
        place = _head(self._bytes(_HEAD))[1]
        return os.path.normpath(os.path.join(self.folder, place)) if "/" in place else place

    def digests(self) -> dict[str, set[bytes]]:
        """The digests of the files that gradmill wrote, by path: the last ones, and those of unfinished runs."""
        contents = self._contents
        return {self._inside + name.replace("/", os.sep): digests for name, digests in contents.digests.items()}

    def has(self, path: str) -> bool:
        """Whether the record is about a file at this path. `path`: without links."""
        return bool(self._name(path))

    def digests_of(self, path: str) -> Set[bytes]:
        """The digests of one file, none if gradmill wrote none there. `path`: without links."""
        return self._contents.digests.get(self._name(path), frozenset())

    def expect(self, files: Mapping[str, bytes]) -> None:
        """Records files that are about to be written: path -> digest of the bytes. Paths are without links; one outside
        of the folder is ignored. OSError if the record cannot be written."""
        new = self._pairs(files.items())
        if not new:
            return
        lines = _lines(new)
        if self.is_as_left and self._read is None and self._append(lines):
            return
        contents = self._contents
        for name, digest in new:
            contents.digests.setdefault(name, set()).add(bytes.fromhex(digest))
        if not (contents.is_intact and self._append(lines)):
            self._ignore()
            pairs = [(each, one.hex()) for each, digests in contents.digests.items() for one in digests]
            replace_file(self.path, _lines([[_FORMAT, 0, contents.owner], *pairs]))
            contents.is_intact = True

    def complete(self, owner: str, files: Mapping[str, bytes], left: Mapping[str, Set[bytes]]) -> None:
        """Replaces the record after a complete run. `owner`: its spec set. `files`: its files with the digests of
        their bytes. `left`: files of earlier runs that stay, since they were edited, with the digests that they had.
        If it cannot be written, the record of the unfinished run remains, which is right as well."""
        pairs = self._pairs(files.items())
        if left:
            of_left = self._pairs((path, digest) for path, digests in left.items() for digest in digests)
            pairs = list({*pairs, *of_left})
        self._write(self._place(owner), sorted(pairs))

    def prune(self) -> None:
        """Removes deleted files from the record, and the record if none remains."""
        left = {path: digests for path, digests in self.digests().items() if os.path.lexists(path)}
        self.complete(self.owner, {}, left)

    # ---- the file

    def _name(self, path: str) -> str:
        """A path below the folder as the record has it, "" for one outside."""
        inside = self._inside
        return path[len(inside) :].replace(os.sep, "/") if path.startswith(inside) else ""

    def _pairs(self, files: Iterable[tuple[str, bytes]]) -> list[Pair]:
        """Files with the digests of their bytes, as the record has them, without those outside of the folder."""
        inside, start, sep = self._inside, len(self._inside), os.sep
        return [(path[start:].replace(sep, "/"), each.hex()) for path, each in files if path.startswith(inside)]

    def _place(self, owner: str) -> str:
        """A set's owner as the record has it: a path from the folder. The embedded sets have names."""
        try:
            place = os.path.relpath(owner, self.folder).replace(os.sep, "/") if os.path.isabs(owner) else owner
        except ValueError:  # on another drive
            place = owner.replace(os.sep, "/")
        return place if place == owner or "/" in place else f"./{place}"

    @property
    def _contents(self) -> _Contents:
        if self._read is None:
            self._read = _contents_of(self._bytes())
        return self._read

    def _bytes(self, size: int = -1) -> bytes:
        return (read_file(self.path, size) if self.problem is None and is_file(self.path) else None) or b""

    def _append(self, lines: bytes) -> bool:
        """Appends lines, with one write: a kill leaves all of them or nothing. False if that is not possible."""
        try:
            handle = open_file(self.path, os.O_WRONLY | os.O_APPEND)
        except OSError:
            return False
        try:
            return os.fstat(handle).st_nlink == 1 and os.write(handle, lines) == len(lines)
        finally:
            os.close(handle)

    def _write(self, owner: str, pairs: Sequence[Pair]) -> None:
        before, self._read = self._bytes(), None
        with suppress(OSError):
            if pairs:
                data = _lines([[_FORMAT, len(pairs), owner], *pairs])
                if data != before:
                    replace_file(self.path, data)
                    self._ignore()
            elif self.problem is None:
                self._remove()

    def _ignore(self) -> None:
        if self._path:
            return
        path = os.path.join(os.path.dirname(self.path), _IGNORE)
        if read_file(path) != _ALL:
            replace_file(path, _ALL)

    def _remove(self) -> None:
        folder = os.path.dirname(self.path)
        for path in (self.path, *([] if self._path else [os.path.join(folder, _IGNORE)])):
            with suppress(FileNotFoundError):
                os.unlink(path)
        remove_empty(folder)


def is_record(head: bytes) -> bool:
    """Whether `head`, the first bytes of a file, begins a record."""
    return _head(head)[0] >= 0


def _lines(values: Sequence[Sequence[object]]) -> bytes:
    encoded = _encoder.encode_lines(values).splitlines()
    return b"".join([b"%b\n" % with_checksum(line) for line in encoded])


def _contents_of(data: bytes) -> _Contents:
    lines = data.splitlines(keepends=True)
    digests: dict[str, set[bytes]] = {}
    for name, digest in (pairs := list(filter(None, map(_pair, lines)))):
        digests.setdefault(name, set()).add(digest)
    count, owner = _head(data)
    return _Contents(digests, owner, 0 <= count <= len(pairs) == len(lines) - 1)


def _value(line: bytes, decoder: msgspec.json.Decoder[T]) -> T | None:
    """What a line has, None if it is damaged or another one."""
    text = checked(line[:-1]) if line.endswith(b"\n") else None
    try:
        return None if text is None else decoder.decode(text)
    except (ValueError, RecursionError):
        return None


def _head(data: bytes) -> tuple[int, str]:
    """The number of lines of the last complete run, -1 if the first line does not begin a record; and the place of its
    set."""
    value = _value(data[: data.find(b"\n") + 1], _heads)
    return value[1:] if value is not None and value[0] == _FORMAT else (-1, "")


def _pair(line: bytes) -> tuple[str, bytes] | None:
    """The path and the digest in a line; None if it has no such, or the path leads out of the folder."""
    name, digest = _value(line, _pairs) or ("", "")
    try:
        return (name, bytes.fromhex(digest)) if "\0" not in name and _NOWHERE.isdisjoint(name.split("/")) else None
    except ValueError:
        return None
