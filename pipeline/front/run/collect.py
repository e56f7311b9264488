"""Deletes garbage in a cache: rows that no last run needs, stores that led to a bug, old verdicts, and temporary files
of killed runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pipeline.front.run.claims import owner_of
from pipeline.front.run.paths import FAILED, PAGES, VERIFIED, code_of, own_files, stores_in
from pipeline.io.files import is_file, read_file, remove_abandoned
from pipeline.problems.problem import SpecError
from pipeline.query.memo import Name
from pipeline.store.collect import Collected, collect
from pipeline.store.sqlite import files_of, is_store, set_aside_of

BUSY = "in use, or just built"
_ROOTS = {("shard", "made"), ("manifest", "manifest"), ("manifest", "units_digest"), ("units", "unit_titles")}


def is_root(name: Name) -> bool:
    """Whether complete runs request a row: it is kept, with all its dependencies."""
    stage, _, query = str(name[0]).partition(":")
    return query == "stage" or (stage, query) in _ROOTS


def collect_cache(cache: str, grace: float) -> Iterator[tuple[str, Collected | str]]:
    """Collects the rows of each spec set: those that complete runs need are kept. Yields each folder with what was
    collected, or with the reason why it was left alone: another process uses it, it was written less than `grace`
    seconds ago, or it may not be gradmill's. SpecError if nothing in `cache` is known as gradmill's."""
    if not is_cache(cache):
        raise SpecError(f"{cache}: no run of gradmill noted anything here", "name its cache: cache=DIR")
    for name in _folders(cache):
        folder = os.path.join(cache, name)
        if not _problem(cache, name):
            _remove(os.path.join(folder, each) for each in own_files(folder) if FAILED in each)
            yield from _verdicts(cache, name)
        stores = [path for path in stores_in(folder) if os.path.isfile(f"{path}.seal")]
        if not stores:
            continue
        if problem := _problem(cache, name):
            yield name, problem
            continue
        remove_abandoned(folder, own_files(folder))
        _remove_former(folder)
        if os.path.getmtime(stores[0]) > time.time() - grace:
            yield name, BUSY
            continue
        remove_stores(folder, keep=2)
        for path in filter(os.path.isfile, stores):
            yield name, collect(path, is_root) or BUSY


def _verdicts(cache: str, name: str) -> Iterator[tuple[str, Collected]]:
    """What `verify` has left in a set's folder: collected for each gradmill that has a store there."""
    folder = os.path.join(cache, name, VERIFIED)
    if not os.path.isdir(folder) or os.path.islink(folder):
        return
    from pipeline.verify.remembered import collect as collect_verdicts
    from pipeline.verify.run import version_of_torch

    codes = [code_of(path) for path in stores_in(os.path.join(cache, name))]
    yield os.path.join(name, VERIFIED), collect_verdicts(Path(folder), codes, version_of_torch())


def remove_stores(folder: str, *, keep: int) -> None:
    """Removes the stores in a set's folder that were of other versions of gradmill, but the `keep` last used."""
    stores = [path for path in stores_in(folder) if is_store(read_file(path, 100) or b"")]
    for path in stores[keep:]:
        _remove([*files_of(path), *files_of(set_aside_of(path))])


def _remove_former(folder: str) -> None:
    """Removes the store of gradmill 0.1, which had one name for all versions."""
    store = os.path.join(folder, "rows")
    if is_file(f"{store}.seal") and (read_file(store, 16) or b"").startswith(b"SQLite format 3\0"):
        _remove(files_of(store))


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        with suppress(OSError):
            os.unlink(path)


def is_cache(cache: str) -> bool:
    """Whether a folder is a cache, or is empty or missing."""
    try:
        names = os.listdir(cache)
    except FileNotFoundError:
        return True
    return not names or any(owner_of(os.path.join(cache, name)) for name in names)


def _problem(cache: str, name: str) -> str:
    """Why the rows in a folder of the cache may not be gradmill's, "" if they are a set's."""
    at = cache
    for part in name.split(os.sep):
        at = os.path.join(at, part)
        if os.path.islink(at):
            return "a link"
    owner = owner_of(os.path.join(cache, name.split(os.sep, maxsplit=1)[0]))
    return "" if owner else "no spec set is noted as its owner"


def _folders(cache: str) -> list[str]:
    """The folders in the cache that may have a store: that of each spec set, and that of its pages."""
    try:
        sets = sorted(entry.name for entry in os.scandir(cache) if entry.is_dir())
    except FileNotFoundError:
        return []
    return [name for each in sets for name in (each, os.path.join(each, PAGES))]
