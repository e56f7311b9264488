"""doit's database: what doit was told to forget or to ignore. What tasks were made from, the rows know."""

from __future__ import annotations

from typing import Any

import msgspec

from pipeline.front.run.notes import ALL, FORGOTTEN, IGNORED, Notes, read_notes, write_notes

OTHERS = ".db"  # what the name of notes has behind it as a database of doit's own, which is another file


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
