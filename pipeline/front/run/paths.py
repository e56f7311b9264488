"""The paths of one build: of the generated files, and of its own files in the cache."""

from __future__ import annotations

import os

from msgspec import Struct

from pipeline.front.settings.config import Config
from pipeline.io.files import is_file
from pipeline.model.places import EVERYWHERE

_RECORD = "last-"  # the prefix of the names of records
TRANSFER = "transfer"  # a store in a set's folder, while it is exported or imported
TRANSFER_ARCHIVE = f"{TRANSFER}.zip"  # there, too, while it is sent to a shared cache, or received
PAGES = "page"  # the folder of a set's pages, both in the cache and beneath the generated files
STORE = "rows-"  # the prefix of the names of stores; the digest of gradmill's code follows
_OWN = ("lock", "doit", "set", "manifest.json", "manifest.json.d", "units.json")  # of runs, in a set's folder


class Paths(Struct, frozen=True):
    """The files of a build."""

    cache: str  # the folder of gradmill's own files
    generated: str  # the folder of the generated files
    record: str  # the record of the last run of this configuration
    stores: str  # the folder of the store

    def store(self, code: bytes) -> str:
        """The path of the store. `code`: the digest of gradmill's own code."""
        return os.path.join(self.stores, f"{STORE}{code.hex()[:16]}")

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

    def path(self, name: str) -> str:
        """The path of a generated file."""
        return os.path.join(self.generated, name)


def paths_of(config: Config) -> Paths:
    """The places of the store and the output of a configuration, and of the record for its release and families."""
    record = _record(config, config.release, ",".join(config.families))
    return Paths(config.folder, config.generated, os.path.join(config.folder, record), config.folder)


def paths_of_pages(config: Config, against: str) -> Paths:
    """The paths of a set's pages, which have a separate store. `against`: the name of the set that this one is compared
    with, "" for none."""
    folder = os.path.join(config.folder, PAGES)
    record = _record(config, config.release, ",".join(config.families), against)
    return Paths(folder, os.path.join(config.generated, PAGES), os.path.join(folder, record), folder)


def was_used(folder: str) -> bool:
    """Whether a run wrote to a folder of the cache."""
    return os.path.lexists(os.path.join(folder, "set")) or any(names_in(folder, STORE))


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
    return _RECORD + xxh3_64_hexdigest("\0".join(map(str, settings)).encode())[:12]


def own_files(folder: str) -> list[str]:
    """The names of gradmill's own files in a set's folder of the cache, whether they exist or not, and of records."""
    return [*_OWN, *names_in(folder, _RECORD), *names_in(folder, STORE)]


def records_in(folder: str) -> list[str]:
    """The names of the records of runs in a folder; none if it cannot be read."""
    return names_in(folder, _RECORD)


def stores_in(folder: str) -> list[str]:
    """The paths of the stores in a folder, the last used first."""
    named = (os.path.join(folder, name) for name in names_in(folder, STORE) if name[len(STORE) :].isalnum())
    return sorted(filter(is_file, named), key=os.path.getmtime, reverse=True)


def names_in(folder: str, prefix: str) -> list[str]:
    """The names in a folder that begin with a prefix; none if it cannot be read."""
    try:
        return [name for name in os.listdir(folder) if name.startswith(prefix)]
    except OSError:
        return []
