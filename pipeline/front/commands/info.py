"""`doit info TASK`: doit's own, which names what changed where a task has work to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from doit.cmd_info import Info as DoitInfo

from pipeline.front.commands.bases import OnTasks
from pipeline.problems.plain import line
from pipeline.problems.problem import SpecError

if TYPE_CHECKING:
    from pipeline.front.doit.tasks import TaskAction

_MANY = 20  # a group with more tasks to run prints only their number


class _Path(str):
    """A path that doit opens unchanged and prints escaped, on one line."""

    def __format__(self, spec: str) -> str:
        return format(line(str(self)), spec)


class Info(OnTasks, DoitInfo):  # type: ignore[misc]
    """doit's command. The state of a group follows from its tasks."""

    def prepare(self, words: list[str], loaded: Sequence[Any]) -> None:
        super().prepare(words, loaded)
        self._named: dict[str, Any] = {task.name: task for task in loaded}
        self._to_run: list[str] = []
        if words:
            self._task = self._named[words[0]]
            self._task.targets = [_Path(target) for target in self._task.targets]
        if words and self._task.has_subtask:
            self._task.uptodate = [(self._group_is_current, [], {})]

    def _group_is_current(self) -> bool:
        inner = [self._named[name] for name in self._task.task_dep if self._named[name].subtask_of == self._task.name]
        states = {task.name: self.dep_manager.get_status(task, self._named).status for task in inner}
        self._to_run = [name for name, state in states.items() if state != "up-to-date"]
        return not self._to_run

    def get_reasons(self, reasons: Any) -> str:
        if self.tasks is None or not reasons["uptodate_false"]:
            return str(super().get_reasons(reasons))
        rest = reasons.copy()
        rest["uptodate_false"] = []
        lines = self._of_group() if self._task.has_subtask else self._of_task(self._task.actions[0])
        return "\n".join(filter(None, (*lines, super().get_reasons(rest))))

    def _of_group(self) -> list[str]:
        count = len(self._task.task_dep)
        names = self._to_run if len(self._to_run) <= _MANY else []
        return [f" * {len(self._to_run)} of its {count} tasks are to run:", *(f"    - {name}" for name in names)]

    def _of_task(self, action: TaskAction) -> list[str]:
        """The changed dependencies of the task, or the error that it would fail with."""
        if action.failure:
            return [" * It would fail:", *(f"    {line}" for line in action.failure.splitlines())]
        return [f" * {reason}" for reason in dict.fromkeys(self._reasons())]

    def _reasons(self) -> Sequence[str]:
        from pipeline.front.commands.explain import explainer
        from pipeline.front.doit.loader import without_traceback
        from pipeline.reports.trail import TOUCHED

        assert self.tasks is not None
        build, name = self.tasks.build, self._task.name
        if name in build.forgotten:
            return ("`gradmill forget` names it",)
        with without_traceback():
            explained = explainer(build)
            try:
                reasons = tuple(reason for each in explained.explain(name) for reason in each.reasons)
            except SpecError:  # the manifest depends on all rows
                reasons = explained.reasons()
        return reasons or (str(TOUCHED[1]),)
