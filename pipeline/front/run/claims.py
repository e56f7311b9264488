"""Who owns a folder: two spec sets of one name, or two that are told to write to one place, are kept apart."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from pipeline.problems.problem import SpecError
from pipeline.query.files import read_file, replace_file


def claim(path: str, owners: Mapping[str, str], remedy: str) -> None:
    """Notes in the file `path` who owns what; a SpecError where somebody else does, and is still there."""
    try:
        known = msgspec.json.decode(read_file(path) or b"{}", type=dict[str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        known = {}
    for what, owner in owners.items():
        other = known.get(what, owner)
        if other != owner and os.path.exists(other):
            raise SpecError(
                f"{what or os.path.dirname(path)} belongs to another spec set, that of {other}",
                f"name another place: {remedy}",
            )
    if any(known.get(what) != owner for what, owner in owners.items()):
        try:
            replace_file(path, msgspec.json.format(msgspec.json.encode({**known, **owners}), indent=1) + b"\n")
        except OSError:
            return  # a cache that cannot be written to remembers nothing
