"""doit's database: what doit is told to forget or to ignore. What tasks were made from, the rows know."""

from __future__ import annotations

from typing import Any

import msgspec
from doit.exceptions import InvalidCommand

from pipeline.io.files import read_file, replace_file
from pipeline.problems.plain import line

FORGOTTEN = "forgotten"
ALL = "*"
OTHERS = ".db"  # what the name of notes has behind it as a database of doit's own, which is another file
IGNORED = "ignore:"  # as doit calls it
AGAIN = "again"  # the tasks that ran since all were forgotten

Notes = dict[str, dict[str, Any]]


def read_notes(path: str) -> Notes:
    """What doit was told; nothing where the file is missing or damaged."""
    try:
        return msgspec.json.decode(read_file(path) or b"{}", type=Notes)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def write_notes(path: str, notes: Notes) -> None:
    """Keeps it; an empty file where there is nothing to keep. InvalidCommand where it cannot be written."""
    try:
        replace_file(path, msgspec.json.encode(notes) if notes else b"")
    except OSError as error:
        raise InvalidCommand(line(f"{error.filename}: {error.strerror}")) from None


class Forgotten:
    """The tasks that doit was told to forget, by what is noted of them."""

    def __init__(self, notes: Notes) -> None:
        self._named = {task for task, note in notes.items() if FORGOTTEN in note}
        self.all = ALL in self._named
        self.again: set[str] = set(notes.get(ALL, {}).get(AGAIN, ()))

    def __bool__(self) -> bool:
        return bool(self._named)

    def __contains__(self, task: str) -> bool:
        return task in self._named or (self.all and task not in self.again)

    def about(self, group: str) -> bool:
        """Whether tasks of a group are named."""
        return any(task.startswith(f"{group}:") for task in (*self._named, *self.again))

    def left(self, notes: Notes, done: set[str]) -> Notes:
        """`notes` after a run: without those of tasks that failed in it, and of what is done again."""
        stay = {task for task in self._named if task not in done}
        kept = {task: note for task, note in notes.items() if FORGOTTEN not in note or task in stay}
        if self.all and ALL in kept:
            kept[ALL] = {**kept[ALL], AGAIN: sorted(self.again | done)}
        return kept


class Codec:
    """How one of doit's own backends writes values, where the command line asks for one: as JSON. doit's codec writes
    the same, and takes a part of every start to be made."""

    def encode(self, value: object) -> str:
        return msgspec.json.encode(value).decode()

    def decode(self, text: str) -> Any:
        return msgspec.json.decode(text)


class Backend:
    """A doit backend of notes."""

    desc = "the tasks to forget and to ignore; gradmill's rows have the rest"

    def __init__(self, name: str, codec: object = None, *, module_name: str | None = None) -> None:
        self.name = name.removesuffix(OTHERS)
        self._notes: Notes | None = None
        self._changed = False
        self._values: dict[str, dict[str, Any]] = {}

    @property
    def notes(self) -> Notes:
        if self._notes is None:
            self._notes = read_notes(self.name)
        return self._notes

    def get(self, task_id: str, dependency: str) -> Any:
        if dependency == IGNORED:
            return self.notes.get(task_id, {}).get(dependency)
        return self._values.get(task_id, {}).get(dependency)

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        if dependency == IGNORED:
            self.notes.setdefault(task_id, {})[dependency] = value
            self._changed = True
        else:
            self._values.setdefault(task_id, {})[dependency] = value

    def in_(self, task_id: str) -> bool:
        return True

    def remove(self, task_id: str) -> None:
        self.notes[task_id] = {FORGOTTEN: True}
        self._changed = True

    def remove_all(self) -> None:
        self._notes = {ALL: {FORGOTTEN: True}}
        self._changed = True

    def dump(self) -> None:
        if self._changed:
            self._changed = False
            write_notes(self.name, self.notes)
