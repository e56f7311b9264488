"""`doit list`: doit's own, with the state of groups of tasks, and as JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from doit.cmd_base import subtasks_iter
from doit.cmd_list import List as DoitList
from msgspec import Struct

RUN, UP_TO_DATE, IGNORED = "run", "up-to-date", "ignore"  # doit's words


class Listed(Struct, frozen=True, omit_defaults=True):
    """A task: a stage, a unit, a generated file, or the group of all units or all files."""

    name: str
    doc: str
    status: str = ""  # where it was asked for
    targets: tuple[str, ...] = ()  # the files that it writes


class List(DoitList):  # type: ignore[misc]
    """doit's command; `format=json` prints one array."""

    doc_usage = "[TASK ...] [--all] [--status] [format=json]"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._states: dict[str, str] = {}
        self._rows: list[Listed] | None = None  # where they are not to be printed as text

    @classmethod
    def get_name(cls) -> str:
        return "list"

    def _execute(  # doit looks for options by the names of these
        self,
        subtasks: bool = False,
        quiet: bool = True,
        status: bool = False,
        private: bool = False,
        list_deps: bool = False,
        template: str | None = None,
        sort: str = "name",
        pos_args: list[str] | None = None,
    ) -> int:
        told = self.loader.namespace.get("TASKS")
        if told is not None and told.build.config.format == "json":
            self._rows = []
        done: int = super()._execute(subtasks, quiet, status, private, list_deps, template, sort, pos_args)
        if self._rows is not None:
            self.outstream.write(msgspec.json.format(msgspec.json.encode(self._rows), indent=2).decode() + "\n")
        return done

    def _print_task(self, template: str, task: Any, status: bool, list_deps: bool, tasks: dict[str, Any]) -> None:
        state = self._state(task, tasks) if status else ""
        if self._rows is not None:
            self._rows.append(Listed(task.name, task.doc, state, tuple(task.targets)))
            return
        self.outstream.write(template.format(name=task.name, doc=task.doc, status=self.STATUS_MAP.get(state, "")))
        if list_deps:
            self.outstream.write("".join(f" -  {name}\n" for name in task.file_dep) + "\n")

    def _state(self, task: Any, tasks: dict[str, Any]) -> str:
        """The state of a task; that of a group follows from those of its tasks."""
        if task.name not in self._states:
            self._states[task.name] = self._look(task, tasks)
        return self._states[task.name]

    def _look(self, task: Any, tasks: dict[str, Any]) -> str:
        if self.dep_manager.status_is_ignore(task):
            return IGNORED
        if task.has_subtask:
            inner = {self._state(each, tasks) for each in subtasks_iter(tasks, task)}
            return RUN if inner - {UP_TO_DATE, IGNORED} else UP_TO_DATE
        return str(self.dep_manager.get_status(task, tasks).status)
