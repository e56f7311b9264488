"""The verdicts of earlier runs, each in a file: what was verified is not verified again."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import msgspec

from gradmill.extensions.verify.model import Verdict
from gradmill.io.checked import checked, with_checksum
from gradmill.io.decoding import decode_json
from gradmill.io.files import Moment, is_settled, remove_abandoned, replace_file, runs, stat_of
from gradmill.query.memo import digest
from gradmill.session.collect import Collected
from gradmill.session.paths import VERIFIED, code_of, stores_in

SAMPLES = "samples"  # in the folder of verdicts
WORK = "work-"  # the prefix of the names of folders for libraries; the id of the process follows
_VERDICT = "verdict-"  # the prefix of the names of verdicts
_DIGITS = 16  # of the digest of gradmill's code, as in the names of stores


def key(code: str, torch: str, node: str, inputs: str) -> str:
    """The name of a verdict: the digest of gradmill's code, the version of torch, the Node, and the digest of all else
    that it depends on."""
    return f"{_version(code, torch)}-{node}-{digest(inputs.encode()).hex()}"


def _version(code: str, torch: str) -> str:
    return f"{_VERDICT}{code[:_DIGITS]}-{torch}"


def known(folder: Path, keys: Iterable[str]) -> dict[str, Verdict]:
    """The verdicts of these names, whose files have the contents that they were verified with."""
    found = {key: verdict for key in keys if (verdict := _read(folder / key)) is not None}
    contents = digests({path for verdict in found.values() for path in verdict.files})
    return {key: each for key, each in found.items() if each.files.items() <= contents.items()}


def _read(path: Path) -> Verdict | None:
    """A verdict; None if there is no such file, or if it is damaged."""
    try:
        return decode_json(checked(path.read_bytes()) or b"", Verdict)
    except (OSError, ValueError):
        return None


def remember(folder: Path, key: str, verdict: Verdict) -> None:
    """Keeps a verdict, unless it is transient. OSError if the file cannot be written."""
    if not verdict.transient:
        replace_file(str(folder / key), with_checksum(msgspec.json.encode(verdict)))


def digests(paths: Iterable[str]) -> dict[str, str]:
    """The digest of each file's content; "" for one that cannot be read."""
    found = dict[str, str]()
    for path in paths:
        found[path] = ""
        with suppress(OSError), open(path, "rb") as file:
            found[path] = hashlib.file_digest(file, "blake2b").hexdigest()
    return found


def changed_since(began: Moment, paths: Iterable[str]) -> bool:
    """Whether any of these files may have changed since then, or is missing."""
    return any(stat is None or not is_settled(stat, began) for stat in map(stat_of, paths))


def version_of_torch() -> str:
    """The version of this Python's torch, "" if it has none."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return ""


def collect(cache: str, name: str) -> Iterator[tuple[str, Collected]]:
    """Deletes what no run will read in a set's folder of a cache: verdicts of a gradmill that has no store there, of
    another torch, if one is installed, and of former texts of a Node; samples of another torch; and libraries of killed
    runs."""
    folder, torch = Path(cache, name, VERIFIED), version_of_torch()
    if not folder.is_dir() or folder.is_symlink():
        return
    codes = [code_of(path) for path in stores_in(os.path.join(cache, name))]
    before = _size(folder)
    remove_killed(folder)
    stats = ((stat_of(str(path)), path) for path in folder.glob(f"{_VERDICT}*[0-9a-f]"))  # no .tmp of a run
    paths = [path for _, path in sorted((stat.mtime_ns, path) for stat, path in stats if stat is not None)]
    last = {path.name.rpartition("-")[0]: path for path in paths}
    versions = tuple(_version(code, f"{torch}-" if torch else "") for code in codes)
    kept = {path for path in last.values() if path.name.startswith(versions)}
    for path in set(paths) - kept:
        path.unlink(missing_ok=True)
    for each in (folder / SAMPLES).glob(f"{SAMPLES}-*"):
        if torch and each.name != f"{SAMPLES}-{torch}":
            shutil.rmtree(each, ignore_errors=True)
    after = _size(folder)
    found = Collected(len(paths) - len(kept), len(kept), max(before - after, 0), after)
    yield os.path.join(name, VERIFIED), found


def remove_killed(folder: Path) -> None:
    """Deletes what killed runs left: libraries, and files that were not complete."""
    remove_abandoned(str(folder), [path.name.rsplit(".", 3)[0] for path in folder.glob("*.tmp")])
    for each in folder.glob(f"{WORK}*"):
        process = each.name.removeprefix(WORK).partition("-")[0]
        if process.isdecimal() and not runs(int(process)):
            shutil.rmtree(each, ignore_errors=True)


def _size(folder: Path) -> int:
    """The bytes of all files in a folder and below."""
    stats = (stat_of(str(path)) for path in folder.rglob("*") if path.is_file())
    return sum(stat.size for stat in stats if stat is not None)  # a run may delete one
