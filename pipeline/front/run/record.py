"""The record of a run, a file in the cache. If no file that the run read or wrote has changed, no row is read."""

import os
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec
from msgspec import Struct

from pipeline.front.output.outputs import Written
from pipeline.front.run.paths import Paths
from pipeline.front.settings.config import Config
from pipeline.io.files import Stat, put_file, read_file, unchanged
from pipeline.query.memo import digest, encode

_SIZE = 16  # of a digest


class Terms(Struct, frozen=True, array_like=True):
    """The dependencies of a run that no file states."""

    tool: tuple[str, ...]  # `OwnCode.identity`
    spelling: tuple[str, ...]  # of the paths that depfiles name, and of the description of the set
    format: str  # of the report


class Evidence(Struct, frozen=True, array_like=True):
    """The files that a run read and wrote, by path."""

    stats: dict[str, Stat | None]  # of what it read, gradmill's own files among them, and of the store
    outputs: dict[str, Written]

    def all(self) -> Iterator[tuple[str, Stat | None]]:
        """Each file with its stat."""
        return chain(self.stats.items(), ((path, file.stat) for path, file in self.outputs.items()))


class Made(Struct, frozen=True, array_like=True):
    """The results of a run."""

    files: tuple[str, ...] = ()  # the names of the generated files
    units: int = 0
    report: str = ""  # of the warnings
    warned: bool = False  # whether there are any
    complete: bool = False  # whether the run wrote everything, without an error


class Record(Struct, frozen=True, array_like=True, tag="record/2"):
    """One run of one configuration."""

    terms: Terms
    evidence: Evidence
    made: Made

    def serves(self, terms: Terms, inputs: Iterable[str], *, strict: bool) -> bool:
        """Whether a run after this one has nothing to do: the files `inputs`, which it would read, are among those of
        this run, and all are unchanged. What changed is determined by the rows."""
        if not self.made.complete or (strict and self.made.warned) or self.terms != terms:
            return False
        return self.evidence.stats.keys() >= set(inputs) and unchanged(self.evidence.all())


def terms_of(config: Config, paths: Paths, tool: tuple[str, ...]) -> Terms:
    """The terms of a run, with the digest of the description: its file may change before its stat is taken."""
    described = config.specs.described
    place, description = config.generated, digest(encode(described)).hex() if described is not None else ""
    return Terms(tool, (paths.manifest, place, "" if os.path.isabs(place) else os.getcwd(), description), config.format)


def load(path: str) -> Record | None:
    """The record in a file, None if it is missing or damaged."""
    data = read_file(path) or b""
    if digest(data[_SIZE:]) != data[:_SIZE]:
        return None
    try:
        record = msgspec.msgpack.decode(data[_SIZE:], type=Record)
    except (ValueError, RecursionError):
        return None
    return None if any("\0" in path for path, _ in record.evidence.all()) else record  # no file has such a path


def save(path: str, record: Record) -> str:
    """Writes a record for the next run; returns why it cannot be written, "" if it was."""
    data = msgspec.msgpack.encode(record)
    try:
        put_file(path, digest(data) + data)
    except OSError as error:
        return f"{os.path.dirname(path)}: {error.strerror}"
    return ""
