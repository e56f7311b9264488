"""doit's database as one MessagePack file that is replaced at once: what each task was made from, and made.

A file that is damaged, or of another format, counts as empty: everything is then looked up in the store again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from pipeline.build.files import Stamp, Stamps, Stat, read_file, stat_of, write_file
from pipeline.model.artifact import digest, encode

T = TypeVar("T")
Values = dict[str, Any]

REMEMBERED = "_remembered"  # a pseudo task: what is worked out from other things in the cache

# What is remembered of what tasks left here: it goes when one is forgotten, or when another run's are merged in.
ALL_MADE = "nodes"
TEXTS = "texts"


class State(Struct, array_like=True, tag="state/2"):
    """The content of the file. The values of a task are decoded when they are asked for."""

    tasks: dict[str, Raw]
    stamps: dict[str, Stamp]


_decoder = msgspec.msgpack.Decoder(State)


class StateDB:
    """A doit backend. Its `stamps` are the digests of files that runs have in common."""

    desc = "one MessagePack file, replaced atomically"

    def __init__(self, name: str, codec: object = None, *, module_name: str | None = None) -> None:
        self.name = name
        self._stat = _stat(name)
        self._loaded = _load(name)
        self._kept = dict(self._loaded.tasks)  # of the file, as far as nobody asked for it
        self._tasks: dict[str, Values] = {}
        self._changed: set[str] = set()
        self._emptied = False
        self.stamps = Stamps(dict(self._loaded.stamps))
        self.before_dump: list[Callable[[], None]] = []  # what wants to add to the state when it is written

    def dump(self) -> None:
        """Writes the file, if anything changed. A cache that cannot be written to costs time, not correctness.

        What other runs wrote in the meantime is kept, but for the tasks that this one ran.
        """
        for prepare in self.before_dump:
            prepare()
        if not self._changed and not self.stamps.changed and not self._emptied:
            return
        alone = _stat(self.name) == self._stat
        meanwhile = State({}, {}) if self._emptied else self._loaded if alone else _load(self.name)
        tasks = {task: raw for task, raw in meanwhile.tasks.items() if task not in self._changed}
        tasks.update({task: Raw(encode(self._tasks[task])) for task in self._changed if task in self._tasks})
        if not alone and REMEMBERED in tasks:
            remembered = msgspec.msgpack.decode(tasks[REMEMBERED])
            tasks[REMEMBERED] = Raw(encode({k: v for k, v in remembered.items() if k not in (ALL_MADE, TEXTS)}))
        self._loaded = State(tasks, {**meanwhile.stamps, **self.stamps.known})
        data = encode(self._loaded)
        try:
            self._stat = write_file(self.name, digest(data) + data)
        except OSError as error:
            sys.stderr.write(f"{self.name}: {error.strerror}; the next run will check everything again\n")
        self._changed = set()
        self._emptied = self.stamps.changed = False

    def _values(self, task_id: str) -> Values | None:
        known = self._tasks.get(task_id)
        if known is None and (raw := self._kept.pop(task_id, None)) is not None:
            known = self._tasks[task_id] = msgspec.msgpack.decode(raw)
        return known

    def tasks(self) -> list[str]:
        """The names of all tasks that have a state."""
        return [*self._kept, *self._tasks]

    def set(self, task_id: str, dependency: str, value: object) -> None:
        value = list(value) if isinstance(value, tuple) else value
        task = self._values(task_id)
        if task is None:
            task = self._tasks[task_id] = {}
        if dependency not in task or task[dependency] != value:
            task[dependency] = value
            self._changed.add(task_id)

    def get(self, task_id: str, dependency: str) -> Any:
        found = self._values(task_id)
        return None if found is None else found.get(dependency)

    def in_(self, task_id: str) -> bool:
        return task_id in self._tasks or task_id in self._kept

    def remove(self, task_id: str) -> None:
        if self._values(task_id) is not None:
            del self._tasks[task_id]
            self._changed.add(task_id)
            remembered = self._values(REMEMBERED) or {}
            for name in (ALL_MADE, TEXTS):
                if remembered.pop(name, None) is not None:
                    self._changed.add(REMEMBERED)

    def remove_all(self) -> None:
        self._tasks = {}
        self._kept = {}
        self._emptied = True

    def remembered(self, name: str, key: bytes, type_: type[T], make: Callable[[], T]) -> T:
        """A value that follows from what `key` stands for: kept from the last run, or made."""
        known = self.recall(name, key, type_)
        if known is not None:
            return known
        made = make()
        self.note(name, key, made)
        return made

    def recall(self, name: str, key: bytes, type_: type[T]) -> T | None:
        """A value noted under `name` with the same key, else None."""
        known = self.get(REMEMBERED, name)
        if known is None or known[0] != key:
            return None
        try:
            return msgspec.msgpack.decode(known[1], type=type_)
        except msgspec.MsgspecError:
            return None

    def note(self, name: str, key: bytes, value: object) -> None:
        """Keeps a value for later runs, in place of what was noted under `name` before."""
        self.set(REMEMBERED, name, [key, encode(value)])


def _stat(name: str) -> Stat | None:
    try:
        return stat_of(name)
    except OSError:
        return None


def _load(name: str) -> State:
    try:
        data = read_file(name)
    except OSError:
        return State({}, {})
    if digest(data[16:]) == data[:16]:
        try:
            return _decoder.decode(data[16:])
        except msgspec.MsgspecError:
            pass
    return State({}, {})
