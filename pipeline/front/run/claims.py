"""Who owns a folder: two spec sets of one name, or two that are told to write to one place, are kept apart.

A note is JSON with a checksum below it: damage must not make a folder somebody else's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from pipeline.problems.problem import SpecError
from pipeline.query.files import read_file, replace_file
from pipeline.query.row import digest


def claim(path: str, owners: Mapping[str, str], remedy: str) -> None:
    """Notes in the file `path` who owns what; a SpecError where somebody else does, and is still there."""
    known = owners_in(read_file(path) or b"")
    for what, owner in owners.items():
        other = known.get(what, owner)
        if other != owner and os.path.exists(other):
            raise SpecError(
                f"{what or os.path.dirname(path)} belongs to another spec set, that of {other}",
                f"name another place: {remedy}",
            )
    if any(known.get(what) != owner for what, owner in owners.items()):
        try:
            replace_file(path, note({**known, **owners}))
        except OSError:
            return  # a cache that cannot be written to remembers nothing


def note(owners: Mapping[str, str]) -> bytes:
    """What is noted of owners."""
    text = msgspec.json.format(msgspec.json.encode(owners), indent=1)
    return b"%s\n%s\n" % (text, digest(text).hex().encode())


def owners_in(data: bytes) -> dict[str, str]:
    """What was noted; nothing where that is damaged."""
    text, _, checksum = data.removesuffix(b"\n").rpartition(b"\n")
    if digest(text).hex().encode() != checksum:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
