"""A step of the build, and what became of it.

The inputs of a step are worked out in one walk. Its key is their digest, and the explanation of why it runs is the
difference between them and those of its last run: the two cannot disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from pipeline.model.artifact import digest_of
from pipeline.problems.problem import Problem

if TYPE_CHECKING:
    from pipeline.build.engine import Build


class Input(Struct, frozen=True, gc=False, array_like=True):
    """One thing a step is made from, and its digest."""

    label: str
    digest: bytes


class Outcome(Struct, frozen=True, gc=False, array_like=True):
    """What a step made: artifacts in the store, and facts that later steps take as inputs."""

    artifacts: dict[str, bytes] = {}
    facts: dict[str, bytes] = {}


class Resolved(Struct, frozen=True, gc=False, array_like=True):
    """A step ready to run, maybe in another process: its inputs, and what it takes from the outcomes of others."""

    inputs: list[Input]
    loads: dict[str, bytes] = {}


class Failed(Exception):
    """A step found mistakes in the specs."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = problems


class Plain:
    """For steps that know all they need when they are resolved."""

    def ready(self, build: Build, resolved: Resolved) -> Resolved:
        return resolved


class Step(Protocol):
    """What the engine asks of a step."""

    @property
    def name(self) -> str:
        """The task's name."""

    @property
    def reusable(self) -> bool:
        """Whether the store may hold what other runs made from the same inputs."""

    def resolve(self, build: Build) -> Resolved:
        """The step's inputs as they are now."""

    def ready(self, build: Build, resolved: Resolved) -> Resolved:
        """The same with what only a run needs; asked for in the process that knows all outcomes."""

    def run(self, build: Build, resolved: Resolved, previous: Outcome) -> Outcome:
        """Does the work. `previous` is the last outcome with the same code, empty when there is none."""

    def present(self, build: Build, outcome: Outcome) -> bool:
        """Whether all that `outcome` says was made is there and whole."""


def key_of(step: Step, resolved: Resolved) -> bytes:
    """What a step's outcome is remembered under."""
    return digest_of((step.name.partition(":")[0], *(part for i in resolved.inputs for part in (i.label, i.digest))))


def changed_inputs(before: list[Input], now: list[Input]) -> list[str]:
    """Why a step runs: the inputs that are new, gone or different."""
    old = {i.label: i.digest for i in before}
    new = {i.label: i.digest for i in now}
    reasons = [
        f"{label} changed" if label in old else f"{label} is new" for label in new if old.get(label) != new[label]
    ]
    return reasons + [f"{label} is gone" for label in old if label not in new]
