"""The record of a run, one file of the cache: when nothing that the run saw and left has changed, no row is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec
from msgspec import Struct

from pipeline.front.output.outputs import Written
from pipeline.front.run.paths import Paths
from pipeline.front.settings.config import Config
from pipeline.io.files import Stat, overwrite_file, read_file, unchanged
from pipeline.query.memo import digest, encode

_SIZE = 16  # of a digest


class Terms(Struct, frozen=True, array_like=True):
    """The dependencies of a run that no file states."""

    tool: tuple[str, ...]  # which gradmill it is, in which Python: `own_code.tool`
    spelling: tuple[str, ...]  # of the paths that depfiles name, and of the description of the set
    format: str  # of the report


class Evidence(Struct, frozen=True, array_like=True):
    """The files that a run saw and left, by path."""

    stats: dict[str, Stat | None]  # of what it read, and of the store
    code: dict[str, Written]  # gradmill's own files
    outputs: dict[str, Written]

    def all(self) -> Iterator[tuple[str, Stat | None]]:
        """Each file with its stat."""
        written = chain(self.code.items(), self.outputs.items())
        return chain(self.stats.items(), ((path, file.stat) for path, file in written))


class Made(Struct, frozen=True, array_like=True):
    """What a run made."""

    files: tuple[str, ...] = ()  # the names of the generated files
    units: int = 0
    report: str = ""  # of the warnings
    warned: bool = False  # whether there are any
    complete: bool = False  # whether everything was made, without an error


class Record(Struct, frozen=True, array_like=True, tag="record/1"):
    """One run of one configuration."""

    terms: Terms
    evidence: Evidence
    made: Made

    def serves(self, terms: Terms, inputs: Iterable[str], *, strict: bool) -> bool:
        """Whether a run has nothing to do after this one: the files that it would read are among those of this run, and
        all are as they were. Does not report what changed: the rows do."""
        if not self.made.complete or (strict and self.made.warned) or self.terms != terms:
            return False
        return self.evidence.stats.keys() >= set(inputs) and unchanged(self.evidence.all())


def terms_of(config: Config, paths: Paths, tool: tuple[str, ...]) -> Terms:
    """The terms of a run. The description counts as it was read: its file may have changed before its stat is taken."""
    described = config.specs.described
    place, said = config.generated, digest(encode(described)).hex() if described is not None else ""
    return Terms(tool, (paths.manifest, place, "" if os.path.isabs(place) else os.getcwd(), said), config.format)


def load(path: str) -> Record | None:
    """The record in a file, None where there is none that can be read."""
    data = read_file(path) or b""
    if digest(data[_SIZE:]) != data[:_SIZE]:
        return None
    try:
        return msgspec.msgpack.decode(data[_SIZE:], type=Record)
    except msgspec.MsgspecError:
        return None


def save(path: str, record: Record) -> str:
    """Keeps a record for the next run; gives why it cannot be kept, "" where it is."""
    data = msgspec.msgpack.encode(record)
    try:
        overwrite_file(path, digest(data) + data)
    except OSError as error:
        return f"{os.path.dirname(path)}: {error.strerror}"
    return ""
