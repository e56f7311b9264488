"""The journal: which inputs made which artifacts.

A file that is only appended to, one record a write, so that runs at the same time, and runs that are killed, do no
harm: a record that does not check is passed over.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from functools import cached_property

import msgspec
from xxhash import xxh3_64_intdigest

from pipeline.build.files import read_file
from pipeline.model.artifact import encode

Outputs = dict[str, bytes]  # name -> digest

_MAGIC = b"gmJ1"
_HEAD = struct.Struct("<4sIQ")  # magic, length, check
_decoder = msgspec.msgpack.Decoder(tuple[bytes, Outputs])

# Keys that are searched for in the bytes, as an edit needs few; from then on all records are read.
_FEW = 24


class Journal:
    """The journal at `path`, as it was when it was first asked."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._added: dict[bytes, Outputs] = {}
        self._asked = 0
        self._appending: int | None = None  # the file, once this process has something to add

    def find(self, key: bytes) -> Outputs | None:
        """What the inputs with this key made last."""
        found = self._added.get(key)
        if found is not None:
            return found
        self._asked += 1
        return self._all.get(key) if self._asked > _FEW else self._search(key)

    def add(self, key: bytes, outputs: Outputs) -> None:
        """Notes that the inputs with this key made `outputs`."""
        if self._added.get(key) == outputs:
            return
        self._added[key] = outputs
        if self._appending is None:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            self._appending = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.write(self._appending, record_bytes(key, outputs))

    @cached_property
    def _data(self) -> bytes:
        try:
            return read_file(self._path)
        except OSError:
            return b""

    @cached_property
    def _all(self) -> dict[bytes, Outputs]:
        return dict(records(self._data))

    def _search(self, key: bytes) -> Outputs | None:
        start = encode((key, {}))[:-1]  # how a payload with this key starts
        at = self._data.rfind(start)
        while at >= 0:
            found = _record_at(self._data, at - _HEAD.size)
            if found is not None:
                return found[1]
            at = self._data.rfind(start, 0, at)
        return None


def record_bytes(key: bytes, outputs: Outputs) -> bytes:
    """One record of a journal."""
    payload = encode((key, outputs))
    return _HEAD.pack(_MAGIC, len(payload), xxh3_64_intdigest(payload)) + payload


def records(data: bytes) -> list[tuple[bytes, Outputs]]:
    """The records of a journal, in order; what does not check is skipped."""
    found = []
    at = data.find(_MAGIC)
    while at >= 0:
        record = _record_at(data, at)
        if record is not None:
            found.append(record)
            at += _HEAD.size + _HEAD.unpack_from(data, at)[1]
            if data[at : at + 4] != _MAGIC:
                at = data.find(_MAGIC, at)
        else:
            at = data.find(_MAGIC, at + 1)
    return found


def _record_at(data: bytes, at: int) -> tuple[bytes, Outputs] | None:
    """The record that starts at an offset, None where there is none that checks."""
    if at < 0 or at + _HEAD.size > len(data):
        return None
    magic, length, check = _HEAD.unpack_from(data, at)
    payload = data[at + _HEAD.size : at + _HEAD.size + length]
    if magic != _MAGIC or len(payload) != length or xxh3_64_intdigest(payload) != check:
        return None
    with suppress(msgspec.MsgspecError):
        return _decoder.decode(payload)
    return None
