"""Steps as doit tasks: the action, the check whether it is up to date, and what both share.

doit reads signatures and copies tasks to other processes; the classes here are made for that.
"""

from __future__ import annotations

import gc
import inspect
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from doit.action import BaseAction
from doit.exceptions import InvalidCommand, InvalidDodoFile, TaskError, TaskFailed
from doit.globals import Globals

from pipeline.build.engine import Build, Missing, state_path
from pipeline.build.state import StateDB
from pipeline.build.step import Failed, Resolved, Step
from pipeline.front.config import Config, read_config
from pipeline.graph_output import EmitStep, emit_steps, needed_to_emit, nodes_of
from pipeline.model.artifact import encode
from pipeline.problems.problem import SpecError, nearest

_builds: dict[bytes, Build] = {}

_last: list[
    tuple[Config, Build]
] = []  # the configuration asked for last, and its build: nearly always there is only one

# doit's option to run what is up to date too, alone or among other short ones.
_ALWAYS = re.compile(r"-[A-Za-z]*a|--always-execute$")

# Artifacts are trees: there is no garbage that counting references does not find, and much to look through.
gc.disable()

# A reader that stops reading, as `head` does, ends the run without a word.
if hasattr(signal, "SIGPIPE"):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def configure(variables: Mapping[str, str]) -> Config:
    """The configuration of this run; doit shows what is wrong with the variables."""
    try:
        config = read_config(variables)
    except SpecError as error:
        raise InvalidDodoFile(error.problem + (f"\n  {error.hint}" if error.hint else "")) from None
    if config.warning:
        sys.stderr.write(f"warning: {config.warning}\n")
    return config


def build_for(config: Config) -> Build:
    """This process's build of `config`: with doit's own database where doit has opened it."""
    if _last and _last[0][0] is config:
        return _last[0][1]
    key = encode(config)
    build = _builds.get(key)
    if build is None:
        path = state_path(config)
        manager = Globals.dep_manager
        backend = manager.backend if manager is not None else None
        state = backend if isinstance(backend, StateDB) and backend.name == path else StateDB(path)
        build = _builds[key] = Build(config, state)
        state.before_dump.append(lambda: note_nodes(build))
    _last[:] = [(config, build)]
    return build


class StepAction(BaseAction):  # type: ignore[misc]
    """Runs a step. What it needs to know of the run is in the task, so that it may run in another process."""

    def __init__(self, step: Step, config: Config) -> None:
        self.step = step
        self.config = config
        self.task: Any = None
        self.result: object = None
        self.values: dict[str, Any] = {}
        self.err = self.out = ""

    def execute(self, out: TextIO | None = None, err: TextIO | None = None) -> TaskFailed | TaskError | None:
        build = build_for(self.config)
        resolved: Resolved = self.task.resolved
        try:
            self.values = build.execute(self.step, resolved)
        except Failed as failed:
            from pipeline.diagnose import report

            return TaskFailed(report(build, self.step, failed))
        except Missing as missing:
            return TaskError(f"artifact {missing} went missing while the build ran\n  run again: it will be made anew")
        except OSError as error:
            return TaskError(
                f"{error.filename or self.config.cache}: {error.strerror or error}\n  nothing was half-written"
            )
        return None

    def __str__(self) -> str:
        return f"step {self.step.name}"


class IsCurrent:
    """doit's `uptodate`: works out the step's inputs, and keeps them for the action."""

    __slots__ = ("build", "config", "step")

    # doit asks for the signature of every callable; looking it up anew costs more than the check.
    __signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("task", "values")]
    )

    def __init__(self, step: Step, build: Build) -> None:
        self.step = step
        self.build = build

    def __call__(self, task: Any, values: dict[str, Any]) -> bool:
        self.build.in_run = True
        resolved = self.step.resolve(self.build)
        current = self.build.is_current(self.step, resolved, values)
        if not current or runs_all():  # goes with the task to whichever process runs it
            task.resolved = self.step.ready(self.build, resolved)
        return current


def known_nodes(build: Build) -> bool:
    """Whether there is a match to create tasks from. Commands that run no tasks, such as `list`, make one."""
    from pipeline.build.ensure import ensure_analysis

    if build.in_run:
        return True
    try:
        ensure_analysis(build)
    except Failed:
        return bool(build.outcome("match").artifacts)
    return True


def runs_all() -> bool:
    """Whether the command line asks for tasks to run that are up to date."""
    return any(map(_ALWAYS.match, sys.argv[1:]))


def check_asked(steps: Sequence[Step], build: Build) -> None:
    """Refuses tasks of the group of `steps` that the command line names and that do not exist."""
    names = {step.name for step in steps}
    group = next(iter(names), "").partition(":")[0]
    for name in sys.argv[1:]:
        if build.in_run and name.startswith(f"{group}:") and "*" not in name and name not in names:
            raise InvalidCommand(f"there is no task '{name}'\n  {nearest(name, names)}".rstrip())


def node_tasks(build: Build) -> Sequence[EmitStep]:
    """The Nodes that get a task of their own.

    Hundreds of Nodes that are up to date cost doit more than the check whether they are: a plain run has tasks only
    for the others. All have one where tasks are listed, asked for by name, or run in any case.
    """
    if not known_nodes(build):
        return []
    plain = build.in_run and not runs_all() and not any(a.startswith("emit:") for a in sys.argv[1:])
    if not plain:
        steps = emit_steps(build)
        check_asked(steps, build)
        return steps
    if (count := build.texts.all_made()) is not None:
        build.current_nodes = count
        return []
    found = [step for step in emit_steps(build, build.texts.unknown()) if not build.holds(step)]
    build.current_nodes = len(nodes_of(build)) - len(found)
    build.waiting_nodes = len(found)
    if len(found) > build.current_nodes:  # in a cold build, what the analysis needed is most of the memory
        build.store.unload(keep=set(needed_to_emit(build)))
    return found


def note_nodes(build: Build) -> None:
    """Notes what is known of all Nodes, for the next run to look at one table in place of hundreds of tasks."""
    if build.in_run and build.has_run("match"):
        build.texts.note()


def current_nodes() -> int:
    """Nodes that were found to be up to date without a task."""
    return sum(build.current_nodes for build in _builds.values())


def waiting_nodes() -> int:
    """Nodes that this run has tasks for."""
    return sum(build.waiting_nodes for build in _builds.values())


def write_stamps(tasks: list[str]) -> None:
    """Writes what `tasks` made to the file that `stamp=` names, if that changed: for build systems that restat."""
    for build in _builds.values():
        if build.config.stamp:
            made = {task: build.outcome(task) for task in tasks}
            try:
                build.write(build.config.stamp, encode(made).hex().encode() + b"\n")
            except OSError as error:
                raise InvalidCommand(f"stamp={build.config.stamp}: {error.strerror}") from None


def step_task(step: Step, build: Build, **fields: Any) -> dict[str, Any]:
    """The doit task of a step."""
    return {"actions": [StepAction(step, build.config)], "uptodate": [IsCurrent(step, build)], **fields}
