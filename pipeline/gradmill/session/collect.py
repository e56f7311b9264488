"""Deletes garbage in a cache: the stores of other versions of gradmill, those that led to a bug, temporary
files of killed runs, and what extensions keep there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec import Struct

from gradmill.doors import loaded
from gradmill.io.files import read_file, remove_abandoned, stat_of
from gradmill.problems.problem import SpecError
from gradmill.session.paths import FAILED, PAGES, code_of, own_files, owner_of, stores_in
from gradmill.store.sqlite import files_of, is_store, set_aside_of


class Collected(Struct, frozen=True):
    """What a collection of garbage deleted, and what is left: numbers of things, and bytes."""

    removed: int
    kept: int
    removed_bytes: int
    kept_bytes: int


def collect_cache(cache: str, code: bytes) -> Iterator[tuple[str, Collected | str]]:
    """Collects garbage in the folder of each spec set: of the stores, that of the gradmill with the digest `code` is
    kept. Yields each folder with what was deleted, or with the reason why it was left alone: it may
    not be gradmill's. SpecError if nothing in `cache` is known as gradmill's."""
    if not is_cache(cache):
        raise SpecError(f"{cache}: no run of gradmill noted anything here", "name its cache: cache=DIR")
    for own in sorted(os.listdir(cache) if os.path.isdir(cache) else ()):
        for name in (own, os.path.join(own, PAGES)):
            of_set, folder = os.path.join(cache, own), os.path.join(cache, name)
            is_link = os.path.islink(of_set) or os.path.islink(folder)
            if is_link or not owner_of(of_set):
                if stores_in(folder):
                    yield name, "a link" if is_link else "no spec set is noted as its owner"
                continue
            _remove(os.path.join(folder, each) for each in own_files(folder) if FAILED in each)
            for collect in loaded("garbage"):
                yield from collect(cache, name)
            if stores := _stores(folder):
                remove_abandoned(folder, own_files(folder))
                yield name, _remove_others(stores, code)


def _remove_others(stores: list[str], code: bytes) -> Collected:
    """Deletes the stores of other code."""
    kept = [path for path in stores if code.hex().startswith(code_of(path))]
    others = [path for path in stores if path not in kept]
    removed = _size(others)
    _remove(file for path in others for file in files_of(path))
    return Collected(len(others), len(kept), removed, _size(kept))


def _size(stores: Iterable[str]) -> int:
    stats = (stat_of(file) for path in stores for file in files_of(path))
    return sum(stat.size for stat in stats if stat is not None)


def _stores(folder: str) -> list[str]:
    """The stores in a set's folder, the last used first."""
    return [path for path in stores_in(folder) if is_store(read_file(path, 100) or b"")]


def remove_stores(folder: str, *, keep: int) -> None:
    """Removes the stores in a set's folder that were of other versions of gradmill, but the `keep` last used."""
    for path in _stores(folder)[keep:]:
        _remove([*files_of(path), *files_of(set_aside_of(path))])


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
