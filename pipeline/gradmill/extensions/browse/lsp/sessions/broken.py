"""Unreadable texts while they are typed: finds their error without a build.

A build of a file that is not valid YAML drops all of its entries and everything that depends on them, until the bracket
is closed. An editor session builds the last readable text instead, and reports the error with the other problems.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.problems.problem import Role, SpecError, TextError
from gradmill.specs.entries import cut, parse_one, parse_whole, read_text
from gradmill.specs.text import MAX_BYTES

_ENTRY = b"\n-"  # the boundary of two entries
_BLOCK = 1024  # bytes per comparison


class Read(Struct, frozen=True):
    """The result of reading a text: the last text with readable entries, and the error of this text."""

    good: bytes = b""
    error: SpecError | None = None


def read(data: bytes, role: Role, good: bytes) -> Read:
    """Checks whether the bytes of a file can be read. `good`: a text whose entries are all known to be readable."""
    if len(data) <= MAX_BYTES and _is_read(_changed(data, good), role):
        return Read(data)
    try:
        if not _is_read(data, role):
            parse_whole(read_text(data), role)
            return Read()
    except SpecError as error:
        return Read(good, error)
    return Read(data)


def _is_read(data: bytes, role: Role) -> bool:
    """Whether the bytes are entries that can each be read separately."""
    try:
        pieces = cut(read_text(data)) or []
    except SpecError:
        return False
    return bool(pieces) and all(_stands_alone(piece.text, role) for piece in pieces)


def _changed(data: bytes, good: bytes) -> bytes:
    """The entries of `data` that may differ from `good`, with some of their neighbours."""
    size, before, after = min(len(data), len(good)), 0, 0
    while before + _BLOCK <= size and data.startswith(good[before : before + _BLOCK], before):
        before += _BLOCK
    while before + after + _BLOCK <= size and data.endswith(
        good[len(good) - after - _BLOCK : len(good) - after], 0, len(data) - after
    ):
        after += _BLOCK
    start = data.rfind(_ENTRY, 0, before) + 1
    end = data.find(_ENTRY, len(data) - after)
    return data[start : end + 1 or None]


def _stands_alone(piece: str, role: Role) -> bool:
    try:
        return bool(parse_one(piece, role))
    except TextError:
        return False
