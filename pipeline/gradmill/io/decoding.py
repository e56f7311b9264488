"""JSON that others may have written: whatever is wrong with it is a ValueError."""

from __future__ import annotations

from typing import TypeVar

import msgspec

_T = TypeVar("_T")


def decode_json(data: bytes | str, type_: type[_T]) -> _T:
    """The value in JSON, of a type that msgspec knows. ValueError with the reason for any other data: msgspec raises a
    RecursionError if they are nested deeply, also in a field that the type does not have."""
    try:
        return msgspec.json.decode(data, type=type_)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
