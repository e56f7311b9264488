"""The last run, as one file: when nothing that it looked at has changed since, nothing else needs to be read."""

import os
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from pipeline.front.output.outputs import Written
from pipeline.io.files import Stat, overwrite_file, read_file, stat_of
from pipeline.query.row import digest


class Last(Struct, frozen=True, array_like=True, tag="last/5"):
    """What a run saw and left."""

    stats: dict[str, Stat | None]  # of all that it read, as evidence, and of the store
    code: dict[str, Written]  # of the source files
    outputs: dict[str, Written]
    files: tuple[str, ...]  # the names of the generated files
    units: int
    report: str  # of the warnings
    complete: bool  # whether all was made, without a mistake
    warned: bool = False  # whether there were warnings
    format: str = "text"  # that the report is in
    whose: tuple[str, ...] = ()  # which gradmill it was: as `Inputs.whose` says
    spelt: tuple[str, ...] = ()  # how the places were spelt that depfiles name


def load(path: str) -> Last | None:
    """What the last run left, None where that cannot be read."""
    data = read_file(path) or b""
    if digest(data[16:]) != data[:16]:
        return None
    try:
        return msgspec.msgpack.decode(data[16:], type=Last)
    except msgspec.MsgspecError:
        return None


def save(path: str, last: Last) -> None:
    """Keeps it for the next run."""
    data = msgspec.msgpack.encode(last)
    overwrite_file(path, digest(data) + data)


def keep(path: str, last: Last, problem: str) -> str:
    """Saves it, unless there is a `problem` already, of the store; gives the problem, "" for none."""
    if not problem:
        try:
            save(path, last)
        except OSError as error:
            return f"{os.path.dirname(path)}: {error.strerror}"
    return problem


def unchanged(last: Last) -> bool:
    """Whether all that the run saw and left is as it was."""
    return (
        last.complete
        and all(stat_of(path) == stat for path, stat in last.stats.items())
        and all(stat_of(path) == made.stat for made_of in (last.code, last.outputs) for path, made in made_of.items())
    )


def folders(paths: Iterable[str]) -> list[str]:
    """The folders of files: one that is added changes them."""
    return sorted({os.path.dirname(path) for path in paths})
