"""Small artifacts in one file: hundreds of Nodes would be hundreds of files to create, to look at and to read.

The pack is only appended to, one record a write, so that runs at the same time and runs that are killed do no harm.
Every record names the digest of its content and is checked against it; what does not check does not exist.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress

from pipeline.build.files import stat_of
from pipeline.build.state import StateDB
from pipeline.model.artifact import digest, encode

_MAGIC = b"gmP1"
_HEAD = struct.Struct("<4sI16s")  # magic, length, digest

Index = dict[bytes, tuple[int, int]]  # digest -> offset, length


class Pack:
    """The objects in one pack file. The index of an unchanged file is kept in the state."""

    def __init__(self, path: str, state: StateDB) -> None:
        self._path = path
        self._state = state
        self._index: Index | None = None
        self._end = 0  # how much of the file the index knows
        self._handle: int | None = None
        state.before_dump.append(self._save_index)

    def stat(self) -> tuple[int, ...]:
        """What tells whether the file is the one that was looked at before."""
        try:
            return stat_of(self._path)
        except OSError:
            return ()

    def __contains__(self, name: bytes) -> bool:
        return self._find(name) is not None

    def add(self, name: bytes, data: bytes) -> None:
        """Appends an object, unless it is there."""
        if name in self:
            return
        assert self._index is not None
        handle = self._open()
        os.write(handle, record(name, data))
        # An appending write leaves this handle's own position behind what it wrote, whoever else appends.
        end = os.lseek(handle, 0, os.SEEK_CUR)
        self._index[name] = (end - len(data), len(data))
        if end - len(data) - _HEAD.size == self._end:
            self._end = end

    def read(self, name: bytes) -> bytes | None:
        """The bytes of an object, None when it is not there or no longer what its name says."""
        data = self._read(name)
        if data is None and self._index is not None and name in self._index:
            self._reload()  # somebody rewrote the file, or damaged it
            data = self._read(name)
        return data

    def _read(self, name: bytes) -> bytes | None:
        entry = self._find(name)
        if entry is None:
            return None
        data = os.pread(self._open(), entry[1], entry[0])
        return data if digest(data) == name else None

    def _find(self, name: bytes) -> tuple[int, int] | None:
        if self._index is None:
            self._load()
        assert self._index is not None
        entry = self._index.get(name)
        if entry is None and self._size() > self._end:  # another process has added to it
            self._reload()
            entry = self._index.get(name)
        return entry

    def _size(self) -> int:
        try:
            return os.stat(self._path).st_size
        except OSError:
            return 0

    def _load(self) -> None:
        try:
            stat = stat_of(self._path)
        except OSError:
            self._index = {}
            return
        self._index = self._state.remembered("pack", encode(stat), Index, lambda: _scan(self._path))
        self._end = stat[0]

    def _reload(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        self._end = self._size()
        self._index = _scan(self._path)

    def _save_index(self) -> None:
        """Keeps the index for the next run, if this one opened the file."""
        if self._handle is None or self._index is None:
            return
        with suppress(OSError):
            stat = stat_of(self._path)
            index = self._index if stat[0] == self._end else _scan(self._path)
            self._state.remembered("pack", encode(stat), Index, lambda: index)

    def _open(self) -> int:
        if self._handle is None:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        return self._handle


def records(data: bytes) -> dict[bytes, bytes]:
    """The objects in the bytes of a pack."""
    return {name: data[at : at + length] for name, (at, length) in _index_of(data).items()}


def record(name: bytes, data: bytes) -> bytes:
    """One record of a pack."""
    return _HEAD.pack(_MAGIC, len(data), name) + data


def _scan(path: str) -> Index:
    try:
        with open(path, "rb") as file:
            return _index_of(file.read())
    except OSError:
        return {}


def _index_of(data: bytes) -> Index:
    found: Index = {}
    view = memoryview(data)
    at = data.find(_MAGIC)
    while 0 <= at <= len(data) - _HEAD.size:
        _, length, name = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        if start + length <= len(data) and digest(bytes(view[start : start + length])) == name:
            found[name] = (start, length)
            at = start + length
            if data[at : at + 4] != _MAGIC:
                at = data.find(_MAGIC, at)
        else:
            at = data.find(_MAGIC, at + 1)
    return found
