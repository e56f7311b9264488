"""doit's database: the tasks that doit is to forget or to ignore. gradmill's rows hold the dependencies of tasks."""

from __future__ import annotations

from typing import Any

import msgspec

from pipeline.front.run.notes import ALL, FORGOTTEN, IGNORED, Notes, read_notes, write_notes
from pipeline.io.decoding import decode_json

OTHERS = ".db"  # the suffix of the notes' path for doit's own backends, which use another file


class Codec:
    """Writes the values of doit's own backends, if the command line selects one, as JSON. doit's codec writes the same
    JSON but makes every start slower."""

    def encode(self, value: object) -> str:
        """The JSON text of a value."""
        return msgspec.json.encode(value).decode()

    def decode(self, text: str) -> Any:
        """The value of a JSON text. ValueError if it is not valid."""
        return decode_json(text, object)


class Backend:
    """A doit backend that stores notes in a JSON file."""

    desc = "the tasks to forget and to ignore; gradmill's rows have the rest"

    def __init__(self, name: str, codec: object = None, *, module_name: str | None = None) -> None:
        self.name = name.removesuffix(OTHERS)
        self._notes: Notes | None = None
        self._changed = False
        self._values: dict[str, dict[str, Any]] = {}

    @property
    def notes(self) -> Notes:
        """What the file holds, read once; empty if it is missing or damaged."""
        if self._notes is None:
            self._notes = read_notes(self.name)
        return self._notes

    def get(self, task_id: str, dependency: str) -> Any:
        """What doit stored about a task under a key, None if nothing. Only `IGNORED` outlives the process."""
        if dependency == IGNORED:
            return self.notes.get(task_id, {}).get(dependency)
        return self._values.get(task_id, {}).get(dependency)

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        """Stores a value about a task under a key."""
        if dependency == IGNORED:
            self.notes.setdefault(task_id, {})[dependency] = value
            self._changed = True
        else:
            self._values.setdefault(task_id, {})[dependency] = value

    def in_(self, task_id: str) -> bool:
        """Whether doit knows the task: always true, as the rows have what doit would look up."""
        return True

    def remove(self, task_id: str) -> None:
        """Notes that the next run is to forget a task."""
        self.notes[task_id] = {FORGOTTEN: True}
        self._changed = True

    def remove_all(self) -> None:
        """Notes that the next run is to forget all tasks, and drops all other notes."""
        self._notes = {ALL: {FORGOTTEN: True}}
        self._changed = True

    def dump(self) -> None:
        """Writes the notes if they changed. InvalidCommand if they cannot be written."""
        if self._changed:
            self._changed = False
            write_notes(self.name, self.notes)
