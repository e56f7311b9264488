"""The state that the tasks of one run share: the build, the request, the tasks done and the failures so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

from doit.exceptions import InvalidCommand
from msgspec import Struct

from pipeline.front.doit.effect import Effect, IsCurrent
from pipeline.front.run.build import Build
from pipeline.front.run.problems import Problems, all_problems, fails
from pipeline.front.settings.hints import unknown_task

Task = dict[str, Any]


class Asked(Struct, frozen=True):
    """The request of the command line."""

    selected: Sequence[str] | None = None  # the names of tasks; None: not known
    running: bool | None = None  # True: doit runs tasks; False: it only lists them; None: not known
    always: bool = False  # whether tasks that are up to date run too
    single: bool = False  # whether tasks run without their dependencies
    each: bool = False  # whether each unit and file is reported, not only their number

    def names(self, group: str) -> bool:
        """Whether the command line may name tasks of a group."""
        return self.selected is None or any(name.startswith(group) for name in self.selected)


class Work:
    """The work of one run. A task consists of an up-to-date check and an effect."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.asked = Asked()
        self.done: set[str] = set()  # tasks that were checked and did not fail
        self.effects: list[Effect] = []

    def task(self, label: str, doc: str, look: Callable[[Effect], bool], **fields: Any) -> Task:
        """A task. `look` returns whether it is up to date, and puts the remaining work into the effect."""
        uptodate = [True] if self.build.nothing_changed else [IsCurrent(partial(self._look, label, look))]
        self.effects.append(effect := Effect(label))
        return {"actions": [effect], "uptodate": uptodate, "doc": doc, **fields}

    def _look(self, label: str, look: Callable[[Effect], bool], effect: Effect) -> bool:
        """Whether a task is up to date. A task that `doit forget` names is not."""
        current = look(effect)
        if not effect.failure:
            self.done.add(label)
        return current and label not in self.build.forgotten

    def needs(self, group: str) -> list[str]:
        """The dependencies of a task: the group, or nothing if tasks run alone."""
        return [] if self.asked.single else [group]

    def check_names(self, group: str, names: Iterable[str]) -> None:
        """Raises InvalidCommand if a run selects a task of a group that does not exist."""
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
        """Whether the specs have errors that stop the run before the units."""
        return not self.build.nothing_changed and self._fails(self.build.stages.before_units())

    def _fails(self, roots: Sequence[Any]) -> bool:
        """Whether the rows under `roots` have an error."""
        return fails(self.build.config, all_problems(self.build.config, self.build.db, roots))

    def failure(self, roots: Sequence[Any]) -> str:
        """The report of all errors; "" if the rows under `roots` have none."""
        return self.build.problems().report if self._fails(roots) else ""

    def errors(self) -> str:
        """The report of all errors; "" if there are none."""
        return self.problems.report if self.problems.failed else ""

    @cached_property
    def problems(self) -> Problems:
        """All problems of the build, computed once: inputs do not change during a run."""
        return self.build.problems()

    def failures(self) -> str:
        """The reports of failed tasks, without duplicates: each report of the specs has all errors."""
        reports = dict.fromkeys(effect.err.rstrip() for effect in self.effects if effect.err)
        return "".join(f"{report}\n" for report in reports)
