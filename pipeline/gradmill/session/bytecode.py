"""Stale bytecode: a .pyc file that Python accepts although its source is newer."""

from __future__ import annotations

import marshal
import os
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Set
from glob import escape, glob
from importlib.util import cache_from_source

from gradmill.io.files import Stat, read_file, stat_of

_SECOND = 1_000_000_000  # nanoseconds
_UNCHECKED = (1).to_bytes(4, "little")  # the flags of bytecode that Python accepts whatever its source is (PEP 552)


def loaded_stale(paths: Iterable[str], loaded: Set[str], folder: str) -> bool:
    """Whether Python loaded stale bytecode for one of the modules at `paths`. Deletes stale bytecode.

    `loaded`: the paths of the modules that Python has loaded. The others lose bytecode that may be stale: it costs less
    to compile those that are loaded later than to compare all. `folder` holds the package: bytecode that was compiled
    after an installer wrote the source there, as its RECORD states, is not compared.
    """
    compared = [path for path in suspects(paths, folder) if path in loaded or not _delete(cache_from_source(path))]
    return bool([path for path in compared if _is_stale(path)])


def suspects(paths: Iterable[str], folder: str) -> list[str]:
    """The modules whose bytecode may be stale by its times and header, except that of an installed source."""
    young = [path for path in paths if _may_be_stale(path)]
    recorded = _recorded(folder) if young else {}
    return [path for path in young if not _is_installed(path, recorded.get(os.path.relpath(path, folder)))]


def _may_be_stale(path: str) -> bool:
    """Whether Python accepts the bytecode and it was compiled soon after the source was saved: as Python compares only
    the size and the whole seconds of a source, it may be that of an older one. Or whether Python compares nothing."""
    compiled = cache_from_source(path)
    source, bytecode = stat_of(path), stat_of(compiled)
    if source and bytecode and (read_file(compiled, 8) or b"")[4:] == _UNCHECKED:
        return True
    if not source or not bytecode or bytecode.mtime_ns - _changed(source) > 2 * _SECOND:
        return False
    expected = 0, source.mtime_ns // _SECOND & 0xFFFFFFFF, source.size & 0xFFFFFFFF
    return (read_file(compiled, 16) or b"")[4:] == b"".join(number.to_bytes(4, "little") for number in expected)


def _changed(source: Stat) -> int:
    changed: int = max(source.mtime_ns, source.ctime_ns)
    return changed


def _recorded(folder: str) -> dict[str, str]:
    """The digests of the sources that an installer wrote in `folder`, by path, as the wheel format's RECORD has them
    (https://packaging.python.org/en/latest/specifications/recording-installed-packages/)."""
    digests = {}
    for path in glob(os.path.join(escape(folder), "gradmill-*.dist-info", "RECORD")):
        for line in (read_file(path) or b"").decode(errors="replace").splitlines():
            name, _, rest = line.partition(",")
            digests[name] = rest.partition(",")[0]
    return digests


def _is_installed(path: str, recorded: str | None) -> bool:
    """Whether the bytecode was compiled from the source that an installer wrote: it is newer than the source, which has
    the recorded digest."""
    if not recorded or not recorded.startswith("sha256="):
        return False
    from hashlib import sha256

    source, bytecode = stat_of(path), stat_of(cache_from_source(path))
    if not source or not bytecode or bytecode.mtime_ns <= _changed(source):
        return False
    digest = sha256(read_file(path) or b"").digest()
    return recorded == f"sha256={urlsafe_b64encode(digest).decode().rstrip('=')}"


def _is_stale(path: str) -> bool:
    compiled = cache_from_source(path)
    data = read_file(compiled) or b""
    try:
        if marshal.loads(data[16:]) == compile(read_file(path) or b"", path, "exec", dont_inherit=True):  # noqa: S302
            return False
    except (SyntaxError, ValueError, EOFError, TypeError):
        pass
    _delete(compiled)
    return True


def _delete(path: str) -> bool:
    """Deletes the file. Returns whether it is missing afterwards."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
