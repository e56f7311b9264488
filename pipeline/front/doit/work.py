"""What the tasks of one run share: the build, what is asked for, what has been done and what has failed so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

from doit.exceptions import InvalidCommand
from msgspec import Struct

from pipeline.front.doit.effect import Effect, IsCurrent
from pipeline.front.run.build import Build
from pipeline.front.run.problems import Problems, fails
from pipeline.front.settings.hints import unknown_task

Task = dict[str, Any]


class Asked(Struct, frozen=True):
    """What the command line asks for."""

    selected: Sequence[str] | None = None  # the names of tasks; None: not known
    running: bool | None = None  # whether doit runs tasks, and does not only list them; None: not known
    always: bool = False  # whether what is up to date is to run too
    single: bool = False  # whether tasks are to run without those that they depend on
    each: bool = False  # whether each unit and file is reported, not only how many there are

    def names(self, group: str) -> bool:
        """Whether tasks of a group may be asked for by name."""
        return self.selected is None or any(name.startswith(group) for name in self.selected)


class Work:
    """The work of one run. A task is made of a look at what it is about, and of an effect."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.asked = Asked()
        self.done: set[str] = set()  # tasks that were looked at, and did not fail
        self.effects: list[Effect] = []

    def task(self, label: str, doc: str, look: Callable[[Effect], bool], **fields: Any) -> Task:
        """A task. `look`: whether it has nothing to do; notes in the effect what is left to do."""
        uptodate = [True] if self.build.nothing_changed else [IsCurrent(partial(self._look, label, look))]
        self.effects.append(effect := Effect(label))
        return {"actions": [effect], "uptodate": uptodate, "doc": doc, **fields}

    def _look(self, label: str, look: Callable[[Effect], bool], effect: Effect) -> bool:
        """Whether a task has nothing to do; it has something, too, when doit was told to forget it."""
        current = look(effect)
        if not effect.failure:
            self.done.add(label)
        return current and label not in self.build.forgotten

    def needs(self, group: str) -> list[str]:
        """What a task depends on, unless it is to run alone."""
        return [] if self.asked.single else [group]

    def check_names(self, group: str, names: Iterable[str]) -> None:
        """Refuses tasks of a group that a run is asked for and that do not exist: an InvalidCommand."""
        if not self.asked.running:
            return
        known = list(names)
        for asked in self.asked.selected or ():
            wanted = asked.removeprefix(f"{group}:")
            if wanted != asked and wanted not in known:
                raise InvalidCommand(unknown_task(asked, [f"{group}:{name}" for name in known]))

    # ---- errors in the specs

    @property
    def stops(self) -> bool:
        """Whether the specs have errors because of which no unit is printed."""
        return not self.build.nothing_changed and self._fails(self.build.stages.before_units())

    def _fails(self, roots: Sequence[Any]) -> bool:
        """Whether the rows under `roots` have an error."""
        from pipeline.problems.problem import Problem

        return fails(self.build.config, self.build.db.diagnostics(roots, Problem))

    def failure(self, roots: Sequence[Any]) -> str:
        """The report of all errors, "" where the rows under `roots` have none."""
        return self.build.problems().report if self._fails(roots) else ""

    def errors(self) -> str:
        """The report of all errors, "" where there are none."""
        return self.problems.report if self.problems.failed else ""

    @cached_property
    def problems(self) -> Problems:
        """All problems of the build. What they are about does not change during a run."""
        return self.build.problems()

    def failures(self) -> str:
        """The reports of the tasks that failed, each once: those of the specs have all errors."""
        found = dict.fromkeys(effect.err.rstrip() for effect in self.effects if effect.err)
        return "".join(f"{report}\n" for report in found)
