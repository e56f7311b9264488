"""Stale bytecode: a .pyc file that Python accepts although its source is newer."""

from __future__ import annotations

import marshal
import os
from importlib.util import cache_from_source

from pipeline.io.files import read_file, stat_of

_SECOND = 1_000_000_000  # nanoseconds


def runs_as_older(path: str) -> bool:
    """Whether Python runs stale bytecode for the module at `path`. Deletes such bytecode.

    Python compares only the size and the whole seconds of a source. Bytecode can be stale only if it was compiled soon
    after the source was saved, so older sources are not compared.
    """
    compiled = cache_from_source(path)
    source, bytecode = stat_of(path), stat_of(compiled)
    if not source or not bytecode or bytecode[1] - max(source[1], source[2]) > 2 * _SECOND:
        return False
    data = read_file(compiled) or b""
    recorded = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")
    if any(data[4:8]) or recorded != (source[1] // _SECOND & 0xFFFFFFFF, source[0] & 0xFFFFFFFF):
        return False  # Python rejects it
    try:
        if marshal.loads(data[16:]) == compile(read_file(path) or b"", path, "exec", dont_inherit=True):  # noqa: S302
            return False
        os.unlink(compiled)
    except (OSError, SyntaxError, ValueError, EOFError, TypeError):
        return True
    return True
