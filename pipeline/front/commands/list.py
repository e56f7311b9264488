"""`doit list`: doit's own, with the state of groups of tasks, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

from doit.cmd_list import List as DoitList
from msgspec import Struct
from msgspec.structs import replace

from pipeline.front.commands.bases import OnTasks
from pipeline.front.commands.report import json_text
from pipeline.front.run.verification import known
from pipeline.problems.plain import lines

_STATES = {"U": "up-to-date", "R": "run", "I": "ignore", "E": "error"}
_FIELD, _END = "\0", "\1"  # separators in doit's output; no name and no text contains them


class Listed(Struct, frozen=True, omit_defaults=True):
    """A task: a stage, a unit, a generated file, or the group of all units or all files."""

    name: str
    doc: str
    status: str = ""  # with --status
    target: str = ""  # the path of the file that it writes
    verification: str = ""  # with --status, what `verify` found about a Node: `verified`, `wrong: …`; "" if not known


class List(OnTasks, DoitList):  # type: ignore[misc]
    """doit's command; `format=json` prints one array."""

    outstream: Any
    doc_usage = "[TASK …] [--all] [--status] [format=json]"

    @classmethod
    def get_name(cls) -> str:
        return "list"

    def execute(self, params: Any, args: list[str]) -> int:
        if params["template"] or params["list_deps"]:
            return int(super().execute(params, args))
        out, self.outstream = self.outstream, StringIO()
        self._states: dict[str, str] = {}  # of the verification of Nodes
        quiet, status, subtasks = params["quiet"], params["status"], params["subtasks"]
        params["template"] = _FIELD.join((*(["{status}"] if status else []), "{name}", "{doc}")) + _END
        params["subtasks"] = subtasks or status  # the state of a group follows from its tasks
        exit_status = int(super().execute(params, args))
        build = self.tasks.build if self.tasks is not None else None
        listed = [self._verified(task) for task in _read(self.outstream.getvalue(), build)]
        shown = [task for task in listed if subtasks or ":" not in task.name or task.name in args]
        as_json = build is not None and build.config.format == "json"
        out.write(json_text(shown).decode() if as_json else _text(shown, quiet=quiet))
        return exit_status

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        super().prepare(words, loaded)
        if self.options["status"] and self.tasks is not None:
            verified = known(self.tasks.build)
            self._states = verified.states() if verified is not None else {}

    def _verified(self, task: Listed) -> Listed:
        """A task with what is known of the Node that it is about."""
        state = self._states.get(task.name.removeprefix("emit:"), "") if task.name.startswith("emit:") else ""
        return replace(task, verification=state) if state else task


def _read(text: str, build: Any) -> list[Listed]:
    """The tasks in doit's output; each group gets its state from its tasks. `build`: None if not gradmill's."""
    lines = [line.split(_FIELD) for line in text.removesuffix("\n").split(f"{_END}\n") if line.removesuffix(_END)]
    lines = [[*line[:-1], line[-1].removesuffix(_END)] for line in lines]
    states = {name: _STATES[state[0]] for *state, name, _ in lines if state}
    groups = {name.partition(":")[0] for name in states if ":" in name}
    for group in groups & states.keys():
        inner = {state for name, state in states.items() if name.startswith(f"{group}:")}
        if states[group] != "ignore":
            states[group] = "run" if inner & {"run", "error"} else "up-to-date"
    return [Listed(name, doc, states.get(name, ""), _target(name, build)) for *_, name, doc in lines]


def _target(name: str, build: Any) -> str:
    group, _, file = name.partition(":")
    if build is None:
        return ""
    return build.path(file) if group == "shard" and file else build.paths.manifest if name == "manifest" else ""


def _text(tasks: Sequence[Listed], *, quiet: bool) -> str:
    """A line for each task: the letter of its state if known, its name, and its doc unless `quiet`."""
    letters = {state: letter for letter, state in _STATES.items()}
    width = max((len(task.name) for task in tasks), default=0) + 3
    heads = [f"{letters[task.status]} " if task.status else "" for task in tasks]
    ends = [f" ({task.verification})" if task.verification else "" for task in tasks]
    return lines(
        f"{head}{task.name:<{width}}{'' if quiet else task.doc}{end}" for head, task, end in zip(heads, tasks, ends)
    )
