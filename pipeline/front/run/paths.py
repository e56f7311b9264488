"""The paths of one build: of the generated files, and of its own files in the cache."""

from __future__ import annotations

import os

from msgspec import Struct

from pipeline.front.settings.config import Config
from pipeline.io.files import files_in
from pipeline.model.places import EVERYWHERE

_RECORD, _WRITTEN = "last-", "written-"  # the prefixes of the names of records, of runs and of trees
_DIGITS = 12  # followed by so many hexadecimal digits
TRANSFER = "transfer"  # a store in a set's folder, while it is exported or imported
TRANSFER_ARCHIVE = f"{TRANSFER}.zip"  # there, too, while it is sent to a shared cache, or received
PAGES = "page"  # the folder of a set's pages, both in the cache and beneath the generated files
_STORE = "rows"
_ENDS = ("", ".values", ".seal", "-wal", "-shm")  # of the names of the files of a store
_OTHERS = ("lock", "doit", "set", "manifest.json", "manifest.json.d", "units.json", TRANSFER_ARCHIVE)


class Paths(Struct, frozen=True):
    """The files of a build."""

    cache: str  # the folder of gradmill's own files
    generated: str  # the folder of the generated files
    record: str  # the record of the last run of this configuration
    store: str
    written: str = ""  # the record of the files in a tree, "" for one in the folder of the generated files

    @property
    def notes(self) -> str:
        """The notes of the tasks that `doit forget` and `doit ignore` named."""
        return os.path.join(self.cache, "doit")

    @property
    def manifest(self) -> str:
        """The manifest of the generated files."""
        return os.path.join(self.cache, "manifest.json")

    @property
    def units(self) -> str:
        """The list of units, next to the manifest."""
        return os.path.join(self.cache, "units.json")

    @property
    def lock(self) -> str:
        """The file that a run locks if it writes to the cache."""
        return os.path.join(self.cache, "lock")

    @property
    def kept(self) -> tuple[str, str, str]:
        """The files that a run leaves for the next one, without its record."""
        return self.store, f"{self.store}.values", self.notes

    def path(self, name: str) -> str:
        """The path of a generated file."""
        return os.path.join(self.generated, name)


def paths_of(config: Config) -> Paths:
    """The places of the store and the output of a configuration, and of the record for its release and families."""
    record = _record(config, config.release, ",".join(config.families))
    return Paths(
        config.folder, config.generated, os.path.join(config.folder, record), _store(config.folder), _written(config)
    )


def paths_of_pages(config: Config, against: str) -> Paths:
    """The paths of a set's pages, which have a separate store. `against`: the name of the set that this one is compared
    with, "" for none."""
    folder = os.path.join(config.folder, PAGES)
    record = _record(config, config.release, ",".join(config.families), against)
    return Paths(folder, os.path.join(config.generated, PAGES), os.path.join(folder, record), _store(folder))


def _store(folder: str) -> str:
    return os.path.join(folder, _STORE)


def _record(config: Config, *more: str) -> str:
    """The name of a record: one for each configuration."""
    from xxhash import xxh3_64_hexdigest

    settings = [*config.arrangement, *more, os.path.abspath(config.generated)]
    settings += [config.places] if config.places != EVERYWHERE else []
    if config.build_files:
        settings += [path and os.path.abspath(path) for path in (config.depfile, config.outputs, config.stamp)]
    settings += [os.path.abspath(config.operators)] if config.operators else []
    settings += [config.includes] if config.includes is not None else []
    settings += [config.line_paths] if config.line_paths is not None else []
    if config.graphs.root:
        settings += [os.path.abspath(config.graphs.root), config.namespace, config.double_backward]
    return _RECORD + xxh3_64_hexdigest("\0".join(map(str, settings)).encode())[:_DIGITS]


def _written(config: Config) -> str:
    """The record of a tree: its own for each, and one for all that builds write there."""
    from xxhash import xxh3_64_hexdigest

    name = xxh3_64_hexdigest(os.path.abspath(config.generated).encode())[:_DIGITS]
    return os.path.join(config.folder, _WRITTEN + name) if config.places.folders else ""


def own_files(folder: str) -> list[str]:
    """The names of gradmill's own files in a set's folder of the cache, whether they exist or not, and of records."""
    stores = (f"{store}{end}" for store in (_STORE, TRANSFER) for end in _ENDS)
    return [*stores, *_OTHERS, *filter(_is_record, map(os.path.basename, files_in(folder)))]


def _is_record(name: str) -> bool:
    begin, sign, end = name.partition("-")
    return begin + sign in (_RECORD, _WRITTEN) and len(end) == _DIGITS and set(end) <= set("0123456789abcdef")
