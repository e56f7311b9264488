"""Bytecode that Python would run in place of a newer source."""

from __future__ import annotations

import marshal
import os
from importlib.util import cache_from_source

from pipeline.io.files import read_file, stat_of

_SECOND = 1_000_000_000  # nanoseconds


def runs_as_older(path: str) -> bool:
    """Whether Python runs an older text of a module, whose bytecode it found: it compares sizes and whole seconds only.

    Such bytecode is removed. Only what was compiled soon after its text was saved can be of an older text.
    """
    compiled = cache_from_source(path)
    text, made = stat_of(path), stat_of(compiled)
    if not text or not made or made[1] - max(text[1], text[2]) > 2 * _SECOND:
        return False
    data = read_file(compiled) or b""
    named = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")
    if any(data[4:8]) or named != (text[1] // _SECOND & 0xFFFFFFFF, text[0] & 0xFFFFFFFF):
        return False  # Python will not take it
    try:
        if marshal.loads(data[16:]) == compile(read_file(path) or b"", path, "exec", dont_inherit=True):  # noqa: S302
            return False
        os.unlink(compiled)
    except (OSError, SyntaxError, ValueError, EOFError, TypeError):
        return True
    return True
