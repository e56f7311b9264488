"""The engine: what steps share in one process, and how one is checked and run.

doit decides what to run when; `Build` knows what each step was made from, and made.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from pipeline.build.files import write_file
from pipeline.build.sources import Sources
from pipeline.build.state import REMEMBERED, StateDB
from pipeline.build.step import Input, Outcome, Resolved, Step, key_of
from pipeline.build.store import Store
from pipeline.build.texts import Texts
from pipeline.families.file import File
from pipeline.front.config import Config
from pipeline.model.artifact import Artifact, digest, digest_of
from pipeline.problems.problem import Problem
from pipeline.releases.model import Release
from pipeline.specs.spec_set import Location

A = TypeVar("A", bound=Artifact)


# Inputs that say how a step works, not what it works on: while they stay, earlier outcomes may be built upon.
MAKERS = frozenset(("gradmill", "release", "strict"))


class Missing(Exception):
    """An artifact that a step needs is no longer in the store."""


class Build:
    """One configuration's build in one process."""

    def __init__(self, config: Config, state: StateDB) -> None:
        self.config = config
        self.state = state
        self.stamps = state.stamps
        self.store = Store(config.cache, state)
        self._outcomes: dict[str, Outcome] = {}
        self.in_run = False  # whether doit is running tasks, not only listing them
        self.current_nodes = 0  # Nodes that need no task, for the reporter
        self.waiting_nodes = 0  # Nodes that have one

    @cached_property
    def release(self) -> Release:
        from pipeline.releases import resolve

        return resolve(self.config.release)

    @cached_property
    def sources(self) -> Sources:
        return Sources(self.stamps, self.state.get(REMEMBERED, "sources") or {})

    def code(self, *modules: str) -> Input:
        """gradmill's own code, as the input of a step that `modules` make."""
        found = Input("gradmill", self.sources.reached_from(*modules))
        if self.sources.changed:
            self.state.set(REMEMBERED, "sources", {self.sources.tree: self.sources.reached})
            self.sources.changed = False
        return found

    def file(self, label: str, location: Location) -> Input:
        """A file of the spec set as an input. A missing file has a digest of its own."""
        if not location.member:
            return Input(label, self.stamps.digest(location.path) or b"missing")
        # The members of an archive are as old as the archive.
        return Input(label, digest_of((self.stamps.digest(location.path) or b"missing", location.member)))

    @cached_property
    def emit_makers(self) -> list[Input]:
        """What all Nodes are made by."""
        return [self.code("pipeline.stages.emit"), Input("release", self.config.release.encode())]

    @cached_property
    def texts(self) -> Texts:
        return Texts(self)

    @property
    def emit_key(self) -> bytes:
        """What all Nodes together follow from: their index, the code that prints them, the release."""
        nodes = self.outcome("match").artifacts.get("nodes", b"")
        return digest_of((nodes, *(made.digest for made in self.emit_makers)))

    def is_noted(self, task: str, info: bytes) -> bool:
        """Whether a Node's task is recorded as made from the info with this digest, by today's code."""
        values = self.state.get(task, "_values_:")
        wanted = [*([made.label, made.digest] for made in self.emit_makers), ["info", info]]
        return bool(values) and all(given in values["inputs"] for given in wanted)

    def slots(self, file: File, template: list[Input]) -> dict[str, str]:
        """The holes of a file's template that take pieces of Nodes: only those pieces can change the file."""
        if not file.template:
            return {}

        def present() -> list[str]:
            try:
                data = self.config.specs.templates[file.template].read()
            except (OSError, KeyError):
                return list(file.slots)
            return [hole for hole in file.slots if hole.encode() in data]

        key = digest_of((template[0].digest, *file.slots))
        holes = self.state.remembered(f"holes of {file.template}", key, list[str], present)
        return {hole: file.slots[hole] for hole in holes}

    def report(self, problems: list[Problem]) -> None:
        """Shows warnings that do not stop the build."""
        if problems and not self.config.strict and all(p.warning for p in problems):
            from pipeline.problems.locate import render

            sys.stderr.write(render(problems, self.config.specs))

    def write(self, path: str, data: bytes) -> bytes:
        """Writes a file, if it does not have these bytes already; gives their digest."""
        found = digest(data)
        if self.stamps.digest(path) != found:
            self.stamps.record(path, write_file(path, data), found)
        return found

    def outcome(self, task: str) -> Outcome:
        """What `task` made: in this run, or in the last one that knew it to be right."""
        found = self._outcomes.get(task)
        return found if found is not None else self.recorded(task)[1]

    def has_run(self, task: str) -> bool:
        """Whether `task` ran, or was found to be right, in this process."""
        return task in self._outcomes

    def recorded(self, task: str) -> tuple[list[Input], Outcome]:
        """Inputs and outcome of the last time `task` ran or was found to be right."""
        values = self.state.get(task, "_values_:")
        if not values or "inputs" not in values:
            return [], Outcome()
        return msgspec.convert(values["inputs"], list[Input]), msgspec.convert(values["outcome"], Outcome)

    def load(self, name: bytes, type_: type[A]) -> A:
        """An artifact from the store; Missing when it is damaged or gone."""
        found = self.store.get(name, type_)
        if found is None:
            raise Missing(name.hex())
        return found

    def holds(self, step: Step) -> bool:
        """Whether the recorded outcome of `step` still holds."""
        return self.is_current(step, step.resolve(self), self.state.get(step.name, "_values_:") or {})

    def is_current(self, step: Step, resolved: Resolved, values: dict[str, Any]) -> bool:
        """The same for a resolved step and the values that doit recorded for it."""
        if values.get("inputs") != msgspec.to_builtins(resolved.inputs, builtin_types=(bytes,)):
            return False
        outcome = Outcome(*values["outcome"])
        if not step.present(self, outcome):
            return False
        self._outcomes[step.name] = outcome
        return True

    def execute(self, step: Step, resolved: Resolved) -> dict[str, Any]:
        """Runs `step`, or takes its outcome from the store; gives the values that doit records."""
        key = key_of(step, resolved)
        outcome = self._recall(step, key)
        if outcome is None:
            outcome = step.run(self, resolved, self._previous(step, resolved))
            if step.reusable:
                self.store.remember(key, {**outcome.artifacts, **{f"={k}": v for k, v in outcome.facts.items()}})
        self._outcomes[step.name] = outcome
        return {
            "inputs": msgspec.to_builtins(resolved.inputs, builtin_types=(bytes,)),
            "outcome": [outcome.artifacts, outcome.facts],
        }

    def _recall(self, step: Step, key: bytes) -> Outcome | None:
        if not step.reusable:
            return None
        outputs = self.store.recall(key)
        if outputs is None:
            return None
        return Outcome(
            {k: v for k, v in outputs.items() if k[0] != "="}, {k[1:]: v for k, v in outputs.items() if k[0] == "="}
        )

    def _previous(self, step: Step, resolved: Resolved) -> Outcome:
        inputs, outcome = self.recorded(step.name)
        makers = {i.label: i.digest for i in inputs if i.label in MAKERS}
        return outcome if makers == {i.label: i.digest for i in resolved.inputs if i.label in MAKERS} else Outcome()


def state_path(config: Config) -> str:
    """Where the state of a configuration is kept: each folder of output has a state of its own."""
    inputs = [str(location) for _, location in config.specs.inputs()]
    which = digest_of((os.path.abspath(config.generated), *map(os.path.abspath, inputs)))
    return os.path.join(config.folder, f"state-{which.hex()[:12]}")
