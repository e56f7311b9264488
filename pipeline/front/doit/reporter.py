"""The output of a run: doit's lines, shortened to one per stage for any number of units and files.

With doit's `-v2` each unit and each file has a line. On a terminal, one more line shows the current work.
Problems are reported when the run ends, independent of the reporter.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from doit.exceptions import InvalidCommand
from doit.reporter import ConsoleReporter

from pipeline.front.console import FEW, Progress, done, ignored, summary, up_to_date
from pipeline.front.run.contents import titles_of

if TYPE_CHECKING:
    from pipeline.front.doit.tasks import Tasks
    from pipeline.front.run.contents import At

_COUNTED = {"emit": "unit", "shard": "file"}  # the groups of tasks, and the noun for what their tasks produce


def reporter_for(tasks: Tasks) -> type[Reporter]:
    """The reporter class for one build's tasks; doit expects a class."""
    return type("BuildReporter", (Reporter,), {"tasks": tasks})


@contextmanager
def _plainly() -> Iterator[None]:
    """Reports a failed write to standard output, such as a full disk, without a traceback."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InvalidCommand(f"standard output: {error.strerror}") from None


class _Group:
    def __init__(self) -> None:
        self.names: list[str] = []  # of the executed tasks
        self.up_to_date = 0  # the tasks that are up to date
        self.ignored = 0


def _is_all_units(task: Any) -> bool:
    """Whether a task is that of all units, not the group of their tasks."""
    return bool(task.name == "emit" and not task.has_subtask)


class Reporter(ConsoleReporter):  # type: ignore[misc]
    """doit's console reporter, with one line for hundreds of units."""

    desc = "console output, a line for each stage"
    tasks: Tasks

    def __init__(self, outstream: Any, options: dict[str, Any]) -> None:
        super().__init__(outstream, options)
        self._groups = {name: _Group() for name in _COUNTED}
        self._selected: list[str] = []
        self._progress = Progress(outstream)
        if self._progress.on:
            self.tasks.show = self._progress.show
        self._all: dict[str, Any] = {}
        self._start = time.perf_counter()
        self._files = self._changed = 0  # the generated files that were checked, and those of them that were written

    def initialize(self, tasks: Any, selected_tasks: list[str]) -> None:
        super().initialize(tasks, selected_tasks)
        self._all = tasks
        self._selected = list(selected_tasks)

    def write(self, text: str) -> None:
        self._progress.clear()
        with _plainly():
            super().write(text)

    def get_status(self, task: Any) -> None:
        if self._progress.on:
            self._progress.show(self._doing(task))

    def _doing(self, task: Any) -> str:
        """The current task, and its position in its group."""
        group = self._all.get(task.subtask_of or "")
        tasks = group.task_dep if group is not None else []
        place = f" {tasks.index(task.name) + 1}/{len(tasks)}" if task.name in tasks else ""
        return f"{task.subtask_of or task.name}{place} {task.name.partition(':')[2]}".rstrip()

    def add_success(self, task: Any) -> None:
        if task.subtask_of == "shard":
            self._files += self._count_of(task)
            self._changed += task.actions[0].wrote
        if _is_all_units(task):
            self._report_units(task.actions[0].units)

    def _count_of(self, task: Any) -> int:
        return self._counts.get(task.name.partition(":")[2], 0)

    @cached_property
    def _counts(self) -> Mapping[str, int]:
        return self.tasks.build.counts_of_files()

    def skip_uptodate(self, task: Any) -> None:
        if task.subtask_of in self._groups:
            self._groups[task.subtask_of].up_to_date += 1
            self._files += self._count_of(task) if task.subtask_of == "shard" else 0
        if _is_all_units(task):
            self._report_units([])
        elif task.subtask_of != "emit" and (self.tasks.request.each or task.subtask_of != "shard"):
            super().skip_uptodate(task)

    def skip_ignore(self, task: Any) -> None:
        group = self._groups.get(task.subtask_of)
        if group is not None:
            group.ignored += 1
        if task.name in self._groups and task.has_subtask:
            self._sum_up(task.name)
        if group is None or self.tasks.request.each:
            super().skip_ignore(task)

    def execute_task(self, task: Any) -> None:
        if _is_all_units(task):  # reported when it has succeeded
            return
        if task.name in self._groups:  # doit executes the group after all of its tasks
            self._sum_up(task.name)
            return
        if task.subtask_of in self._groups:
            self._groups[task.subtask_of].names.append(task.name.partition(":")[2])
        if self.tasks.request.each or task.subtask_of not in self._groups:
            super().execute_task(task)

    def _report_units(self, rebuilt: Sequence[At]) -> None:
        """Prints the lines of the task of all units."""
        each, count = self.tasks.request.each, self.tasks.build.count_of_units() - len(rebuilt)
        named = rebuilt and (each or len(rebuilt) <= FEW)
        names = titles_of(self.tasks.build.db, rebuilt) if named else []  # without any, the database stays closed
        if each:
            self.write("".join(f".  emit:{name}\n" for name in names))
        elif rebuilt:
            self.write(done("emit", names, len(rebuilt), "unit"))
        if count > 0:
            self.write(up_to_date("emit", count, "unit"))

    def _sum_up(self, name: str) -> None:
        """Prints the lines of a group, of those of its tasks that were selected."""
        group, what, each = self._groups[name], _COUNTED[name], self.tasks.request.each
        if group.names and not each:
            self.write(done(name, group.names, len(group.names), what))
        if group.ignored and not each:
            self.write(ignored(name, group.ignored, what))
        if group.up_to_date and not (each and name == "shard"):
            self.write(up_to_date(name, group.up_to_date, what))
        self._groups[name] = _Group()

    def add_failure(self, task: Any, fail: Any) -> None:
        group, name = self._groups.get(task.subtask_of), task.name.partition(":")[2]
        if group is not None and name in group.names:  # it was counted when it started
            group.names.remove(name)
        if fail.report and fail.get_name() != "UnmetDependency":
            self._progress.clear()
            self.outstream.flush()
            sys.stderr.write(f"{fail.message.rstrip()}\n")

    def complete_run(self) -> None:
        for name in self._groups:  # those not summed up yet: only some tasks were selected, or one failed
            self._sum_up(name)
        ended = sys.exc_info()[0] is None
        failed = bool(self.tasks.failures() or self.runtime_errors)
        if self._files and ended and not failed:
            build = self.tasks.build
            took = time.perf_counter() - self._start if self._changed or build.db.ran else None
            self.write(summary(self._files, build.config.generated, self._changed, took, build.outputs.removed))
        self._progress.clear()
        with _plainly():
            self.outstream.flush()
        sys.stderr.write("".join(f"{error}\n" for error in self.runtime_errors))
        if self.tasks.request.running is None and ended:  # not gradmill's `run`, which ends the run itself
            self.tasks.end(self._selected, failed=failed)
