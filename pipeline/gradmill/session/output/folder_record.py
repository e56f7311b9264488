"""The record of the files that gradmill wrote to an output folder, `.gradmill/written` in this folder. That of a tree,
to which other builds write, is in the cache.

The first line has the format, the spec set that owns the folder, and the checksum of the second one, which has the
files that the last complete run left: paths from the folder of the record's files, each with the digests of its bytes.
All paths are relative: the record names no machine, and a copy of a project has a record of its own files.

A run appends a line before it writes a file, with the path, the digest and a checksum, and removes none before its end:
after a kill at any point, each file of gradmill's has a line with its digest. Each append begins with a line end, since
a kill may have cut the line before it. A complete run ends by replacing the record.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from functools import cached_property
from typing import Annotated, TypeVar
from zlib import crc32

import msgspec
from msgspec import Meta, Struct

from gradmill.io.checked import checked, with_checksum
from gradmill.io.decoding import decode_json
from gradmill.io.files import is_file, open_file, read_file, remove_empty, replace_file

FILES = _NAME, IGNORE = "written", ".gitignore"
_FOLDER = ".gradmill"
ALL_IGNORED = b"*\n"  # in the .gitignore
_FORMAT = "written/5"
_HEAD = 8192  # bytes that the first line has at most
_NOWHERE = frozenset({"", os.curdir, os.pardir})  # what no part of a path below the folder may be


_Digest = Annotated[bytes, Meta(min_length=16, max_length=16)]
_T = TypeVar("_T")


class _Head(Struct, frozen=True, array_like=True):
    """The first line."""

    format: str = ""
    owner: str = ""
    sum: int = -1  # of the second line


class _Known(Struct, frozen=True):
    """What a record has: the digests of each file, by its path; others than those of unfinished runs are single."""

    files: dict[str, list[bytes]]
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
    def _known(self) -> _Known:
        first, *others = self._bytes().split(b"\n")
        files: dict[str, list[bytes]] = {}
        has_complete = bool(others) and crc32(others[0]) == _head(first).sum
        if has_complete:
            found = decode_json(others.pop(0), dict[str, list[_Digest]])
            has_complete = not found or self._may_have(*found)
            files = self._by_path(found) if has_complete else {}
        lines = list(filter(None, others))
        entries = list(filter(None, map(self._entry, lines)))
        for path, digest in entries:
            files[path] = [*files.get(path, ()), digest]
        return _Known(files, has_complete and len(entries) == len(lines), has_complete and not lines)

    def read_again(self) -> None:
        """Has the next question read the file: another process may have written it."""
        self.__dict__.pop("_known", None)

    @property
    def is_intact(self) -> bool:
        """Whether the record exists, and no line of it is damaged or missing."""
        return self._known.intact

    @property
    def is_complete(self) -> bool:
        """Whether it is intact, and the last run that wrote files was complete."""
        return self._known.complete

    def paths(self) -> Set[str]:
        """The paths of the files that gradmill wrote, without links in their folders."""
        return self._known.files.keys()

    def digests_of(self, path: str) -> Set[bytes]:
        """The digests of one of them: the last one, and those of unfinished runs. None of another file."""
        return set(self._known.files.get(path, ()))

    def expect(self, files: Mapping[str, bytes]) -> None:
        """Records files that are about to be written: path -> digest of the bytes. Paths are without links; one that
        the record does not have is ignored. OSError if the record cannot be written."""
        lines = []
        for name, path in self._by_name({path: path for path in files}).items():
            self._known.files[path] = [*self._known.files.get(path, ()), files[path]]
            lines.append(b"%b\n" % with_checksum(msgspec.json.encode((name, files[path]))))
        data = b"".join([b"\n", *lines])
        if lines and not self._append(data):  # missing, or something else is there
            self._ignore()
            replace_file(self.path, (self._bytes() or file_of("", {})) + data)

    def complete(self, owner: str, files: Mapping[str, bytes], remaining: Mapping[str, Set[bytes]]) -> None:
        """Replaces the record after a complete run. `owner`: its spec set. `files`: its files with the digests of
        their bytes. `remaining`: files of earlier runs that stay, since they were edited, with the digests that they
        had. If it cannot be written, the record of the unfinished run remains, which is right as well."""
        digests = {path: [digest] for path, digest in files.items()}
        digests |= {path: sorted({*digests.get(path, ()), *more}) for path, more in remaining.items()}
        named = self._by_name(digests)
        self.read_again()
        with suppress(OSError):
            if named:
                data = file_of(owner_from(owner, self._base), named)
                if data != self._bytes():
                    self._ignore()
                    replace_file(self.path, data)
            elif self.problem is None:
                self._remove()

    def prune(self) -> None:
        """Removes deleted files from the record, and the record if none remains."""
        self.complete(self.owner, {}, {path: self.digests_of(path) for path in self.paths() if os.path.lexists(path)})

    # ---- the file

    def _by_name(self, files: Mapping[str, _T]) -> dict[str, _T]:
        """What belongs to paths, by their names in the record; without those that it does not have."""
        base, start = self._base, len(self._base)
        own = {path[start:]: each for path, each in files.items() if path.startswith(base) and path not in self._others}
        if self._path and len(own) < len(files):
            rest = ((path, each) for path, each in files.items() if not path.startswith(base))
            own |= {os.path.relpath(path, base): each for path, each in rest if path not in self._others}
        return own

    def _by_path(self, files: Mapping[str, _T]) -> dict[str, _T]:
        """What belongs to names in the record, by path."""
        base = self._base
        paths = {base + name: each for name, each in files.items()}
        return {os.path.normpath(path): each for path, each in paths.items()} if self._path else paths

    def _may_have(self, *names: str) -> bool:
        """Whether all of these lead to files in the folder; those of a tree may be anywhere."""
        joined = "/".join(("", *names, ""))
        return "\0" not in joined and (bool(self._path) or not any(f"/{part}/" in joined for part in _NOWHERE))

    def _entry(self, line: bytes) -> tuple[str, bytes] | None:
        """The path and the digest in an appended line; None if it is damaged, or the path leads out of the folder."""
        try:
            name, digest = decode_json(checked(line) or b"", tuple[str, _Digest])
        except ValueError:
            return None
        return next(iter(self._by_path({name: digest}).items())) if self._may_have(name) else None

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
        path = os.path.join(os.path.dirname(self.path), IGNORE)
        if not self._path and read_file(path) != ALL_IGNORED:
            replace_file(path, ALL_IGNORED)

    def _remove(self) -> None:
        folder = os.path.dirname(self.path)
        for path in (self.path, *([] if self._path else [os.path.join(folder, IGNORE)])):
            with suppress(FileNotFoundError):
                os.unlink(path)
        remove_empty(folder)


def file_of(owner: str, files: Mapping[str, list[bytes]]) -> bytes:
    """The record of a complete run. `owner`: as `owner_from` has it; `files`: names with digests."""
    data = msgspec.json.encode(files)
    return with_checksum(msgspec.json.encode(_Head(_FORMAT, owner, crc32(data)))) + b"\n" + data + b"\n"


def _head(line: bytes) -> _Head:
    try:
        head = decode_json(checked(line) or b"", _Head)
    except ValueError:
        return _Head()
    return head if head.format == _FORMAT else _Head()


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
