"""The verdicts of earlier runs, in a file: what was verified is not verified again."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from gradmill.extensions.verify.model import Verdict
from gradmill.io.checked import checked, with_checksum
from gradmill.io.decoding import decode_json
from gradmill.io.files import Moment, is_settled, open_lock, remove_abandoned, replace_file, runs, stat_of
from gradmill.query.memo import digest
from gradmill.session.collect import Collected

FILE, SAMPLES = "verdicts", "samples"  # in the folder of verdicts
WORK = "work-"  # the prefix of the names of folders for libraries; the id of the process follows
_MOST = 5000  # verdicts in the file: several versions of all formulas of a release
_DIGITS = 16  # of the digest of gradmill's code, as in the names of stores


Verdicts = dict[str, Verdict]  # by `key`, the one used last at the end


def key(code: str, torch: str, inputs: str) -> str:
    """The key of a verdict: the digest of gradmill's code, the version of torch, all else that a verdict depends on."""
    return f"{code[:_DIGITS]} {torch} {digest(inputs.encode()).hex()}"


def load(path: Path) -> Verdicts:
    """The verdicts; none if there is no such file, or if it is damaged."""
    try:
        return decode_json(checked(path.read_bytes()) or b"", Verdicts)
    except (OSError, ValueError):
        return {}


def current(known: Verdicts) -> Verdicts:
    """Those verdicts whose files have the contents that they were verified with."""
    contents = digests({path for verdict in known.values() for path in verdict.files})
    return {key: each for key, each in known.items() if each.files.items() <= contents.items()}


def digests(paths: Iterable[str]) -> dict[str, str]:
    """The digest of each file's content; "" for one that cannot be read."""
    return {path: _digest(path) for path in paths}


def changed_since(began: Moment, paths: Iterable[str]) -> bool:
    """Whether any of these files may have changed since then, or is missing."""
    return any(stat is None or not is_settled(stat, began) for stat in map(stat_of, paths))


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()
    except OSError:
        return ""


def update(path: Path, new: Mapping[str, Verdict], used: Iterable[str]) -> None:
    """Adds verdicts to the file, which other processes may extend at the same time; those `used` come last. Raises
    OSError if the file cannot be written."""
    import fcntl  # not on every system that reads verdicts

    new = {key: verdict for key, verdict in new.items() if not verdict.transient}
    lock = open_lock(f"{path}.lock")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = load(path)
        known = before | new
        known |= {key: known.pop(key) for key in dict.fromkeys(used) if key in known}
        if new or list(known) != list(before):
            save(path, known)
    finally:
        os.close(lock)


def save(path: Path, verdicts: Mapping[str, Verdict]) -> None:
    """Writes the last verdicts. Raises OSError if that fails."""
    data = msgspec.json.encode(dict(list(verdicts.items())[-_MOST:]))
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(str(path), with_checksum(data))


def collect(folder: Path, codes: Collection[str], torch: str) -> Collected:
    """Deletes what no run will read: verdicts of another gradmill or torch, and of former texts of a Node; samples of
    another torch; and libraries of killed runs. `codes`: the digests of gradmill's code, as stores have them in their
    names; `torch`: the installed version, "" for none, which keeps those of all."""
    before, path = _size(folder), folder / FILE
    known = load(path)
    last = {(name.rpartition(" ")[0], verdict.name): name for name, verdict in known.items()}
    versions = {f"{code} {torch}".rstrip() for code in codes}
    own = {name for (version, _), name in last.items() if (version if torch else version.partition(" ")[0]) in versions}
    kept = {name: verdict for name, verdict in known.items() if name in own}
    if len(kept) < len(known):
        save(path, kept)
    remove_killed(folder)
    for each in (folder / SAMPLES).glob(f"{SAMPLES}-*"):
        if torch and each.name != f"{SAMPLES}-{torch}":
            shutil.rmtree(each, ignore_errors=True)
    after = _size(folder)
    return Collected(len(known) - len(kept), len(kept), max(before - after, 0), after)


def remove_killed(folder: Path) -> None:
    """Deletes what killed runs left: libraries, and a file that was not complete."""
    remove_abandoned(str(folder), [FILE])
    for each in folder.glob(f"{WORK}*"):
        process = each.name.removeprefix(WORK).partition("-")[0]
        if process.isdecimal() and not runs(int(process)):
            shutil.rmtree(each, ignore_errors=True)


def _size(folder: Path) -> int:
    """The bytes of all files in a folder and below."""
    stats = (stat_of(str(path)) for path in folder.rglob("*") if path.is_file())
    return sum(stat.size for stat in stats if stat is not None)  # a run may delete one
