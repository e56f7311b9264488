"""The record of the files that gradmill wrote to an output folder, `.gradmill/written` in this folder. That of a tree,
to which other builds write, is in the cache.

A line for each file: a checksum, the XXH3 digest of its bytes, its path from the folder of the record's files. The
first line has the format, the number of lines that the last complete run wrote, and the spec set that owns the folder.
All paths are relative: the record names no machine, and a copy of a project has a record of its own files.

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

from gradmill.io.checked import checked, with_checksum
from gradmill.io.files import is_file, open_file, read_file, remove_empty, replace_file

FILES = _NAME, _IGNORE = "written", ".gitignore"
_FOLDER = ".gradmill"
_ALL = b"*\n"  # in the .gitignore
_FORMAT = b"written/3"
_HEAD = 8192  # bytes that the first line has at most
_NOWHERE = frozenset({"", os.curdir, os.pardir})  # what no part of a path below the folder may be


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
        return owner_at(_head(self._bytes(_HEAD).partition(b"\n")[0])[1], self._base)

    @cached_property
    def _lines(self) -> tuple[dict[str, set[bytes]], bool, bool]:
        """The digests by path; whether the record is intact; whether the last run that wrote files was complete."""
        first, *others = self._bytes().split(b"\n")
        lines = list(filter(None, others))
        digests: dict[str, set[bytes]] = {}
        for path, digest in (pairs := list(filter(None, map(self._pair, lines)))):
            digests.setdefault(path, set()).add(digest)
        count = _head(first)[0]
        return digests, 0 <= count <= len(pairs) == len(lines), count == len(pairs) == len(lines)

    def read_again(self) -> None:
        """Has the next question read the file: another process may have written it."""
        self.__dict__.pop("_lines", None)

    @property
    def is_intact(self) -> bool:
        """Whether the record exists, and no line of it is damaged or missing."""
        return self._lines[1]

    @property
    def is_complete(self) -> bool:
        """Whether it is intact, and the last run that wrote files was complete."""
        return self._lines[2]

    def digests(self) -> Mapping[str, Set[bytes]]:
        """The digests of the files that gradmill wrote, by path: the last ones, and those of unfinished runs. Paths are
        without links in their folders."""
        return self._lines[0]

    def expect(self, files: Mapping[str, bytes]) -> None:
        """Records files that are about to be written: path -> digest of the bytes. Paths are without links; one that
        the record does not have is ignored. OSError if the record cannot be written."""
        new = {path: digest for path, digest in files.items() if self._name(path)}
        if not new:
            return
        for path, digest in new.items():
            self._lines[0].setdefault(path, set()).add(digest)
        data = b"".join([b"\n", *self._encoded(new.items())])
        if not self._append(data):  # missing, or something else is there
            self._ignore()
            replace_file(self.path, (self._bytes() or _first(0, "")) + data)

    def complete(self, owner: str, files: Mapping[str, bytes], remaining: Mapping[str, Set[bytes]]) -> None:
        """Replaces the record after a complete run. `owner`: its spec set. `files`: its files with the digests of
        their bytes. `remaining`: files of earlier runs that stay, since they were edited, with the digests that they
        had. If it cannot be written, the record of the unfinished run remains, which is right as well."""
        more = ((path, digest) for path, digests in remaining.items() for digest in digests)
        lines = self._encoded(sorted([*files.items(), *more]))
        self.read_again()
        with suppress(OSError):
            if lines:
                data = b"".join([_first(len(lines), owner_from(owner, self._base)), *lines])
                if data != self._bytes():
                    self._ignore()
                    replace_file(self.path, data)
            elif self.problem is None:
                self._remove()

    def prune(self) -> None:
        """Removes deleted files from the record, and the record if none remains."""
        self.complete(self.owner, {}, {path: each for path, each in self.digests().items() if os.path.lexists(path)})

    # ---- the file

    def _encoded(self, files: Iterable[tuple[str, bytes]]) -> list[bytes]:
        """The lines for files with the digests of their bytes, without those that it does not have."""
        named = ((self._name(path), digest) for path, digest in files)
        return [b"%b\n" % with_checksum(b"%b %b" % (hexlify(digest), name)) for name, digest in named if name]

    def _name(self, path: str) -> bytes:
        """A path as the record has it, empty for one that it does not have."""
        name = path[len(self._base) :] if path.startswith(self._base) else ""
        if self._path and not name:
            name = os.path.relpath(path, self._base)
        return b"" if path in self._others else name.replace(os.sep, "/").encode("unicode_escape")

    def _pair(self, line: bytes) -> tuple[str, bytes] | None:
        """The path and the digest in a line; None if it is damaged, or the path leads out of the folder."""
        digest, _, name = (checked(line) or b"").partition(b" ")
        try:
            text, value = name.decode("unicode_escape"), unhexlify(digest)
        except ValueError:
            return None
        if not value or "\0" in text:
            return None
        path = self._base + text.replace("/", os.sep)
        if _NOWHERE.isdisjoint(text.split("/")):
            return path, value
        return (os.path.normpath(path), value) if self._path else None

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


def _first(count: int, owner: str) -> bytes:
    """The first line. `owner`: as `owner_from` has it."""
    return with_checksum(b"%s %d %s" % (_FORMAT, count, owner.encode("unicode_escape"))) + b"\n"


def _head(line: bytes) -> tuple[int, str]:
    """The number of lines of the last complete run and the owner in the first line; -1 if it begins no record."""
    form, _, rest = (checked(line) or b"").partition(b" ")
    count, _, owner = rest.partition(b" ")
    try:
        return (int(count), owner.decode("unicode_escape")) if form == _FORMAT else (-1, "")
    except ValueError:
        return -1, ""


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
