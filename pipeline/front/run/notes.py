"""The notes of one set: the tasks that `doit forget` and `doit ignore` named."""

from __future__ import annotations

from typing import Any

import msgspec
from doit.exceptions import InvalidCommand

from pipeline.io.decoding import decode_json
from pipeline.io.files import read_file, replace_file
from pipeline.problems.plain import line

FORGOTTEN = "forgotten"
ALL = "*"
IGNORED = "ignore:"  # as doit calls it
AGAIN = "again"  # the tasks that ran since all were forgotten

Notes = dict[str, dict[str, Any]]


def read_notes(path: str) -> Notes:
    """The notes in a file, empty if it is missing or damaged."""
    try:
        return decode_json(read_file(path) or b"{}", Notes)
    except ValueError:
        return {}


def write_notes(path: str, notes: Notes) -> None:
    """Writes the notes; an empty file if there are none. InvalidCommand if it cannot be written."""
    try:
        replace_file(path, msgspec.json.encode(notes) if notes else b"")
    except OSError as error:
        raise InvalidCommand(line(f"{error.filename}: {error.strerror}")) from None


class Forgotten:
    """The tasks that `doit forget` named, from the notes."""

    def __init__(self, notes: Notes) -> None:
        self._named = {task for task, note in notes.items() if FORGOTTEN in note}
        self.all = ALL in self._named
        self.again: set[str] = set(notes.get(ALL, {}).get(AGAIN, ()))

    def __bool__(self) -> bool:
        return bool(self._named)

    def __contains__(self, task: str) -> bool:
        return task in self._named or (self.all and task not in self.again)

    @property
    def about_units(self) -> bool:
        """Whether tasks of units are named."""
        return any(task.startswith("emit:") for task in (*self._named, *self.again))

    def clear(self, path: str, done: set[str], *, again: bool) -> None:
        """Drops the notes in a file of those of these tasks that are `done` now; with `again`, of all of them."""
        notes = read_notes(path) if self else {}
        past = self._named if again else self._named & done
        kept = {task: note for task, note in notes.items() if task not in past}
        if self.all and ALL in kept:
            kept[ALL] = {**kept[ALL], AGAIN: sorted(self.again | done)}
        if kept != notes:
            write_notes(path, kept)
