"""The record of the files that gradmill wrote to an output folder, `.gradmill/written` in this folder. That of a tree,
to which other builds write, is in the cache.

A line for each file: a checksum, the XXH3 digest of its bytes, its path from the folder of the record's files. The
first line has the format, of the lines that the last complete run wrote their number, bytes and checksum, and the spec
set that owns the folder. All paths are relative: the record names no machine, and a copy of a project has a record of
its own files.

A run appends a line before it writes a file, and removes none before its end: after a kill at any point, each file of
gradmill's has a line with its digest. Each append begins with a line end, since a kill may have cut the line before it.
A complete run ends by replacing the record.
"""

from __future__ import annotations

import os
from binascii import hexlify, unhexlify
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from functools import cached_property
from zlib import crc32

from msgspec import Struct

from gradmill.io.checked import checked, with_checksum
from gradmill.io.files import is_file, open_file, read_file, remove_empty, replace_file

FILES = _NAME, _IGNORE = "written", ".gitignore"
_FOLDER = ".gradmill"
_ALL = b"*\n"  # in the .gitignore
_FORMAT = b"written/4"
_HEAD = 8192  # bytes that the first line has at most
_NOWHERE = frozenset({"", os.curdir, os.pardir})  # what no part of a path below the folder may be
_ODD = (b"\\", b"//", b"/.", b" /", b" .", b"/\n", b" \n")  # without these, lines have no such part and no escape
_SIZE = 16  # bytes of a digest
_DIGEST, _PATH = slice(9, 41), slice(42, None)  # the places in a line


class _Head(Struct, frozen=True):
    """The first line. The lines of the last complete run follow: their number, -1 without a first line, and the number
    and the checksum of their bytes."""

    count: int = -1
    size: int = 0
    sum: int = 0
    owner: str = ""


class _Lines(Struct, frozen=True):
    """What a record has: the lines of each file, by its path; others than those of unfinished runs are single."""

    of: dict[str, tuple[bytes, ...]]
    intact: bool
    complete: bool  # and the last run that wrote files was


class FolderRecord:
    """The record of one output folder. `path`: its file, "" for the one in the folder. `others`: paths of files that it
    does not have: those that variables name."""

    def __init__(self, folder: str, path: str = "", others: Iterable[str] = ()) -> None:
        self._named = folder
        self._path = path
        self._others = {os.path.join(os.path.realpath(at), name) for at, name in map(os.path.split, others)}

    @cached_property
    def folder(self) -> str:
        """The output folder, with links resolved."""
        return os.path.realpath(self._named)

    @cached_property
    def path(self) -> str:
        """The file of the record."""
        return os.path.realpath(self._path) if self._path else os.path.join(self.folder, _FOLDER, _NAME)

    @cached_property
    def _base(self) -> str:
        """The folder from which the record has paths. Files of a tree may be anywhere."""
        return os.path.join(os.path.dirname(self.path) if self._path else self.folder, "")

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
    def owner(self) -> str:
        """The spec set of the last complete run, as `SpecSet.owner` has it; "" if it is not known. Reads one line."""
        return owner_at(_head(self._bytes(_HEAD).partition(b"\n")[0]).owner, self._base)

    @cached_property
    def _lines(self) -> _Lines:
        first, _, data = self._bytes().partition(b"\n")
        head = _head(first)
        of, more = self._of_complete_run(head, data[: head.size]), data[head.size :]
        if len(of) != head.count:
            of, more = {}, data
        known = len(of)
        others = list(filter(None, more.split(b"\n")))
        count = known + len(others)
        for line in others:
            if path := self._path_in(line):
                known += 1
                of[path] = (*of.get(path, ()), line)
        return _Lines(of, 0 <= head.count <= known == count, head.count == known == count)

    def _of_complete_run(self, head: _Head, data: bytes) -> dict[str, tuple[bytes, ...]]:
        """The lines of the last complete run, by path: of thousands of files, and none is looked at alone. Fewer than
        there are if these must be: one is damaged or has an escape, or a file has several."""
        if crc32(data) != head.sum or any(odd in data for odd in _ODD):
            return {}
        lines = data.split(b"\n")[:-1]
        return dict(zip([self._base + text[_PATH] for text in data.decode().split("\n")], zip(lines)))

    def read_again(self) -> None:
        """Has the next question read the file: another process may have written it."""
        self.__dict__.pop("_lines", None)

    @property
    def is_intact(self) -> bool:
        """Whether the record exists, and no line of it is damaged or missing."""
        return self._lines.intact

    @property
    def is_complete(self) -> bool:
        """Whether it is intact, and the last run that wrote files was complete."""
        return self._lines.complete

    def paths(self) -> Set[str]:
        """The paths of the files that gradmill wrote, without links in their folders."""
        return self._lines.of.keys()

    def digests_of(self, path: str) -> Set[bytes]:
        """The digests of one of them: the last one, and those of unfinished runs. None of another file."""
        return {unhexlify(line[_DIGEST]) for line in self._lines.of.get(path, ())}

    def expect(self, files: Mapping[str, bytes]) -> None:
        """Records files that are about to be written: path -> digest of the bytes. Paths are without links; one that
        the record does not have is ignored. OSError if the record cannot be written."""
        new = {path: digest for path, digest in files.items() if self._name(path)}
        if not new:
            return
        lines = {path: self._line(path, digest) for path, digest in new.items()}
        self._lines.of.update((path, (*self._lines.of.get(path, ()), line)) for path, line in lines.items())
        data = b"".join([b"\n", *(b"%b\n" % line for line in lines.values())])
        if not self._append(data):  # missing, or something else is there
            self._ignore()
            replace_file(self.path, (self._bytes() or _first(b"", 0, "")) + data)

    def complete(self, owner: str, files: Mapping[str, bytes], remaining: Mapping[str, Set[bytes]]) -> None:
        """Replaces the record after a complete run. `owner`: its spec set. `files`: its files with the digests of
        their bytes. `remaining`: files of earlier runs that stay, since they were edited, with the digests that they
        had. If it cannot be written, the record of the unfinished run remains, which is right as well."""
        more = ((path, digest) for path, digests in remaining.items() for digest in sorted(digests))
        lines = list(filter(None, (self._line(path, digest) for path, digest in (*files.items(), *more))))
        self.read_again()
        with suppress(OSError):
            if lines:
                data = b"".join([*(b"\n".join(lines), b"\n")])
                data = _first(data, len(lines), owner_from(owner, self._base)) + data
                if data != self._bytes():
                    self._ignore()
                    replace_file(self.path, data)
            elif self.problem is None:
                self._remove()

    def prune(self) -> None:
        """Removes deleted files from the record, and the record if none remains."""
        self.complete(self.owner, {}, {path: self.digests_of(path) for path in self.paths() if os.path.lexists(path)})

    # ---- the file

    def _line(self, path: str, digest: bytes) -> bytes:
        """The line for a file with the digest of its bytes, as it was read if it was; empty if the record does not have
        such a file."""
        value = hexlify(digest)
        for line in self._lines.of.get(path, ()):
            if line[_DIGEST] == value:
                return line
        name = self._name(path)
        return with_checksum(b"%b %b" % (value, name)) if name else b""

    def _name(self, path: str) -> bytes:
        """A path as the record has it, empty for one that it does not have."""
        name = path[len(self._base) :] if path.startswith(self._base) else ""
        if self._path and not name:
            name = os.path.relpath(path, self._base)
        return b"" if path in self._others else name.replace(os.sep, "/").encode("unicode_escape")

    def _path_in(self, line: bytes) -> str:
        """The path in a line; "" if it is damaged, or the path leads out of the folder."""
        digest, _, name = (checked(line) or b"").partition(b" ")
        try:
            text, is_whole = name.decode("unicode_escape"), len(unhexlify(digest)) == _SIZE
        except ValueError:
            return ""
        path = self._base + text.replace("/", os.sep) if is_whole and "\0" not in text else ""
        if path and not _NOWHERE.isdisjoint(text.split("/")):
            return os.path.normpath(path) if self._path else ""
        return path

    def _bytes(self, size: int = -1) -> bytes:
        return (read_file(self.path, size) if self.problem is None and is_file(self.path) else None) or b""

    def _append(self, data: bytes) -> bool:
        """Appends with one write: a kill leaves all of it or a part of the last line. False if that is not possible."""
        try:
            handle = open_file(self.path, os.O_WRONLY | os.O_APPEND)
        except OSError:
            return False
        try:
            return os.fstat(handle).st_nlink == 1 and os.write(handle, data) == len(data)
        finally:
            os.close(handle)

    def _ignore(self) -> None:
        path = os.path.join(os.path.dirname(self.path), _IGNORE)
        if not self._path and read_file(path) != _ALL:
            replace_file(path, _ALL)

    def _remove(self) -> None:
        folder = os.path.dirname(self.path)
        for path in (self.path, *([] if self._path else [os.path.join(folder, _IGNORE)])):
            with suppress(FileNotFoundError):
                os.unlink(path)
        remove_empty(folder)


def _first(lines: bytes, count: int, owner: str) -> bytes:
    """The first line, before these. `owner`: as `owner_from` has it."""
    numbers = b"%d %d %d" % (count, len(lines), crc32(lines))
    return with_checksum(b"%s %s %s" % (_FORMAT, numbers, owner.encode("unicode_escape"))) + b"\n"


def _head(line: bytes) -> _Head:
    form, *fields = (checked(line) or b"").split(b" ", 4)
    if form != _FORMAT or len(fields) != 4:
        return _Head()
    try:
        count, size, total = map(int, fields[:3])
        return _Head(count, size, total, fields[3].decode("unicode_escape"))
    except ValueError:
        return _Head()


# ---- which spec set owns a folder


def owner_from(owner: str, folder: str) -> str:
    """A set's owner as a file in `folder` has it: a path from there. The embedded sets have names."""
    try:
        place = os.path.relpath(owner, folder).replace(os.sep, "/") if os.path.isabs(owner) else owner
    except ValueError:  # on another drive
        place = owner.replace(os.sep, "/")
    return place if place == owner or "/" in place else f"./{place}"


def owner_at(place: str, folder: str) -> str:
    """The owner, as `SpecSet.owner` has it, that a file in `folder` names; "" if that is no path."""
    owner = os.path.normpath(os.path.join(folder, place)) if "/" in place else place
    return "" if "\0" in owner else owner
