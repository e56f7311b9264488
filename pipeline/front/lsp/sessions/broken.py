"""Texts that cannot be read while they are typed: what is wrong with them, found without a build.

To a build, a file that is no YAML has no entries, and all that was made of them is gone until the bracket is closed.
An editor keeps what the file said last, and tells the mistake, with what a run would tell beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from pipeline.problems.causes import causes
from pipeline.problems.problem import Problem, Role, SpecError, TextError
from pipeline.specs.entries import cut, parse_pieces, parse_plain, parse_whole, read_text
from pipeline.specs.text import MAX_BYTES

_ENTRY = b"\n-"  # where one ends and the next begins
_BLOCK = 1024  # bytes that are compared at once


class Read(Struct, frozen=True):
    """What a text came to: the last one whose entries could all be read one by one, and what keeps this from being
    read."""

    good: bytes = b""
    mistake: SpecError | None = None


def read(data: bytes, role: Role, good: bytes) -> Read:
    """Looks whether the bytes of a file can be read; those of `good` are known to be, entry by entry."""
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
    """Whether these are entries that can be read one by one."""
    try:
        pieces = cut(read_text(data)) or []
    except SpecError:
        return False
    return bool(pieces) and all(_stands_alone(piece.text, role) for piece in pieces)


def _changed(data: bytes, good: bytes) -> bytes:
    """The entries of `data` that may be none of `good`'s, and some of their neighbours."""
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
        return parse_plain(piece, role) is not None or bool(parse_pieces([piece], role))
    except TextError:
        return False


def beside(problems: Iterable[Problem], roles: Collection[Role], mistakes: Iterable[Problem]) -> list[Problem]:
    """What a run tells while the files of some roles cannot be read, of the `problems` that there are without that:
    the mistakes, and of the others those that are not about entries of these files."""
    return causes([*mistakes, *(problem for problem in problems if problem.role not in roles)])
