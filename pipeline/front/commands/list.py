"""`doit list`: doit's own, with the state of groups of tasks, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doit.cmd_list import List as DoitList
from msgspec import Struct
from msgspec.structs import replace

from pipeline.front.commands.on_tasks import OnTasks
from pipeline.front.commands.report import json_text
from pipeline.front.run.build import Build
from pipeline.front.run.verification import known
from pipeline.model.entries import by_key
from pipeline.problems.plain import lines


class Listed(Struct, frozen=True, omit_defaults=True):
    """A task: a stage, a unit, a generated file, or the group of all units or all files."""

    name: str
    doc: str
    status: str = ""  # with --status
    target: str = ""  # the path of the file that it writes
    verification: str = ""  # with --status, what `verify` found about a Node: `verified`, `wrong: …`; "" if not known


class List(OnTasks, DoitList):  # type: ignore[misc]
    """doit's command; `format=json` prints one array."""

    doc_usage = "[TASK …] [--all] [--status] [format=json]"

    @classmethod
    def get_name(cls) -> str:
        return "list"

    def execute(self, params: Any, args: list[str]) -> int:
        self._is_doits = bool(params["template"] or params["list_deps"])  # another form of output
        self._listed: list[Listed] = []
        self._states: dict[str, str] = {}  # of the verification of Nodes
        subtasks = params["subtasks"]
        params["subtasks"] = subtasks or params["status"]  # the state of a group follows from its tasks
        exit_status = int(super().execute(params, args))
        if not self._is_doits:
            shown = [
                task for task in _with_groups(self._listed) if subtasks or ":" not in task.name or task.name in args
            ]
            as_json = self.tasks is not None and self.tasks.build.config.format == "json"
            self.outstream.write(json_text(shown).decode() if as_json else self._text(shown, quiet=params["quiet"]))
        return exit_status

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        super().prepare(words, loaded)
        if self.options["status"] and self.tasks is not None:
            verified = known(self.tasks.build)
            self._states = verified.states() if verified is not None else {}

    def _print_task(self, template: str, task: Any, status: bool, list_deps: bool, tasks: Any) -> None:
        if self._is_doits:
            super()._print_task(template, task, status, list_deps, tasks)
            return
        state = "ignore" if status and self.dep_manager.status_is_ignore(task) else ""
        state = state or (self.dep_manager.get_status(task, tasks).status if status else "")
        group, _, name = task.name.partition(":")
        target = _target(task.name, self.tasks.build) if self.tasks is not None else ""
        verification = self._states.get(name, "") if group == "emit" else ""
        self._listed.append(Listed(task.name, task.doc, state, target, verification))

    def _text(self, tasks: Sequence[Listed], *, quiet: bool) -> str:
        """A line for each task: the letter of its state if known, its name, and its doc unless `quiet`."""
        width = max((len(task.name) for task in tasks), default=0) + 3
        heads = [f"{self.STATUS_MAP[task.status]} " if task.status else "" for task in tasks]
        ends = [f" ({task.verification})" if task.verification else "" for task in tasks]
        return lines(
            f"{head}{task.name:<{width}}{'' if quiet else task.doc}{end}" for head, task, end in zip(heads, tasks, ends)
        )


def _with_groups(listed: Sequence[Listed]) -> list[Listed]:
    """The tasks. A group that is not ignored has the state of its tasks, if that is known."""
    inner = by_key((task.name.partition(":")[0], task.status) for task in listed if ":" in task.name and task.status)
    return [
        replace(task, status="run" if {"run", "error"}.intersection(inner[task.name]) else "up-to-date")
        if task.name in inner and task.status != "ignore"
        else task
        for task in listed
    ]


def _target(name: str, build: Build) -> str:
    group, _, file = name.partition(":")
    return build.path(file) if group == "shard" and file else build.paths.manifest if name == "manifest" else ""
