"""The record of a run, a file in the cache: which files it read and wrote, and what its command line prints again if
none of them has changed."""

import os
from collections.abc import Mapping
from itertools import chain, zip_longest

import msgspec
from msgspec import Struct

from gradmill.io.decoding import decode_json
from gradmill.io.files import Stat, as_stat, put_file, read_file
from gradmill.io.stats import FIELDS
from gradmill.query.memo import MISSING
from gradmill.session.answer import fields_in, file_of
from gradmill.session.output.outputs import Written

_DIGEST = len(MISSING)


class Evidence(Struct, frozen=True):
    """The files that a run read and wrote, by path."""

    stats: dict[str, Stat | None]  # of what it read, gradmill's own files among them, and of the store
    outputs: dict[str, Written]


class Answer(Struct, frozen=True):
    """What the same command line prints again. `stats`: of more files on which that depends."""

    command: bytes
    out: bytes
    error: bytes
    stats: dict[str, Stat | None]


NO_ANSWER = Answer(b"", b"", b"", {})


class Record(Struct, frozen=True):
    """One run of one configuration. `complete`: it wrote everything, without an error. `code`: `OwnCode.note`."""

    evidence: Evidence
    complete: bool
    answer: Answer = NO_ANSWER
    code: bytes = b""


class _Details(Struct, frozen=True):
    """What the file of a record has besides stats and the answer."""

    complete: bool
    digests: str  # of the outputs, which are the last files that are not missing
    code: bytes = b""


def load(path: str) -> Record | None:
    """The record in a file, None if it is missing or damaged."""
    try:
        fields = fields_in(read_file(path) or b"")
        if fields is None:
            return None
        command, out, error, details, count, numbers, more, listed = fields
        found, paths, middle = decode_json(details, _Details), os.fsdecode(listed).split("\0"), int(count)
        stats, digests = _stats_in(numbers), bytes.fromhex(found.digests)
        each = [digests[at : at + _DIGEST] for at in range(0, len(digests), _DIGEST)]
        first, end = len(stats) - len(each), len(stats)
        outputs = dict(zip(paths[first:end], map(Written, stats[first:], each), strict=True))
        read = _with_missing(paths[:first] + paths[end:middle], stats[:first])
        others = _with_missing(paths[middle:], _stats_in(more))
    except (ValueError, KeyError):
        return None
    return Record(Evidence(read, outputs), found.complete, Answer(command, out, error, others), found.code)


def save(path: str, record: Record) -> str:
    """Writes a record for the next run; returns why it cannot be written, "" if it was."""
    evidence, answer = record.evidence, record.answer
    read = {path: stat for path, stat in evidence.stats.items() if path not in evidence.outputs}
    stats = read | {path: written.stat for path, written in evidence.outputs.items()}
    digests = b"".join(written.digest for written in evidence.outputs.values()).hex()
    details = msgspec.json.encode(_Details(record.complete, digests, record.code))
    paths, numbers = _fields_of(stats)
    return _put(path, answer, [details, b"%d" % len(stats), numbers], paths)


def add_answer(path: str, answer: Answer) -> None:
    """Adds an answer to a record in its file, whose other fields are not decoded."""
    fields = fields_in(read_file(path) or b"")
    if fields is not None:
        *_, details, count, numbers, _, listed = fields
        _put(path, answer, [details, count, numbers], listed.split(b"\0")[: int(count)])


def _put(path: str, answer: Answer, of_run: list[bytes], paths: list[bytes]) -> str:
    """Writes the file of a record; returns why it cannot be written, "" if it was."""
    others, more = _fields_of(answer.stats)
    fields = [answer.command, answer.out, answer.error, *of_run, more, b"\0".join([*paths, *others])]
    try:
        put_file(path, file_of(fields))
    except OSError as error:
        return f"{os.path.dirname(path)}: {error.strerror}"
    return ""


def _stats_in(numbers: bytes) -> list[Stat]:
    """As `stats_in`, for all of thousands of files."""
    listed = iter(decode_json(b"[%b]" % numbers, list[int]))
    return [*map(as_stat, zip(*[listed] * FIELDS))]


def _with_missing(paths: list[str], stats: list[Stat]) -> dict[str, Stat | None]:
    """The stat of each path; the last ones are those of missing files."""
    return dict(zip_longest(paths, stats))


def _fields_of(stats: Mapping[str, Stat | None]) -> tuple[list[bytes], bytes]:
    """The paths of files, missing ones last, and the field of their stats."""
    present = [path for path, stat in stats.items() if stat is not None]
    paths = [*present, *(path for path, stat in stats.items() if stat is None)]
    numbers = msgspec.json.encode([*chain.from_iterable(filter(None, stats.values()))])[1:-1]
    return os.fsencode("\0".join(paths)).split(b"\0") if paths else [], numbers
