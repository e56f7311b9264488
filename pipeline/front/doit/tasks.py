"""gradmill's tasks: one per stage, for all units, per generated file, and for the manifest.

A task is a view: its up-to-date check asks the driver, its action writes a file or fails. Each unit has a task only if
tasks are listed, or some of these are named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, TextIO

from doit.action import BaseAction
from doit.exceptions import InvalidCommand, TaskError, TaskFailed
from msgspec import Struct

from pipeline.families.file import ANY
from pipeline.front.console import print_report
from pipeline.front.run import contents
from pipeline.front.run.build import READS, WRITES, Build
from pipeline.front.run.claims import check_claims
from pipeline.front.run.contents import At
from pipeline.front.run.notes import IGNORED, read_notes
from pipeline.front.run.own_code import RUN_AGAIN, CodeChanged
from pipeline.front.settings.config import NO_FIX, NO_FIX_HINT
from pipeline.front.settings.hints import GROUPS, two_lines, unknown_task
from pipeline.problems.plain import line, message_of, reason
from pipeline.problems.problem import SpecError

if TYPE_CHECKING:
    from pipeline.front.run.driver import Driver
    from pipeline.front.run.problems import Problems

Task = dict[str, Any]


class TaskAction(BaseAction):  # type: ignore[misc]
    """A task's action: what the check left to do."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: Problems | None = None  # if the specs have errors
        self.error = ""  # why the task fails otherwise
        self.writes: Callable[[], object] | None = None  # writes the file, or several
        self.count = 1  # how many
        self.wrote = 0
        self.units: list[At] = []  # that the check brought up to date
        self.task: Any = None
        self.result: object = None
        self.values: dict[str, Any] = {}
        self.err = self.out = ""

    def execute(self, out: TextIO | None = None, err: TextIO | None = None) -> TaskFailed | TaskError | None:
        if self.problems is None and not self.error:
            self._write()
        self.err = self.failure
        if not self.err:
            return None
        kind = TaskError if self.problems is None else TaskFailed
        return kind(self.err, report=False)  # the run reports it, independent of doit's reporter

    @property
    def failure(self) -> str:
        """Why the task fails, "" if it does not."""
        return self.error if self.problems is None else self.problems.report

    def _write(self) -> None:
        if self.writes is None:
            return
        try:
            self.writes()
            self.wrote = self.count
        except SpecError as error:
            self.error = message_of(error)
        except OSError as error:
            self.error = f"{reason(error)}\n  all files are complete, as before or new: the next run writes the others"
        finally:
            self.writes = None  # it holds the bytes of a file

    def __str__(self) -> str:
        return self.name


class IsCurrent:
    """doit's `uptodate`. `check` brings the result of a task up to date, and leaves the rest to the task's action."""

    # doit asks for the signature of every callable; computing it each time costs more than the check.
    __signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("task", "values")])

    def __init__(self, check: Callable[[TaskAction], bool]) -> None:
        self._check = check

    def __repr__(self) -> str:
        return "its dependencies"

    def __call__(self, task: Any, values: dict[str, Any]) -> bool:
        action: TaskAction = task.actions[0]
        try:
            return self._check(action)
        except SpecError as error:
            action.error = message_of(error)
        except CodeChanged:
            action.error = RUN_AGAIN
        except OSError as error:
            action.error = reason(error)
        return False


class TaskRequest(Struct, frozen=True):
    """What the command line requests."""

    selected: Sequence[str] | None = None  # the names of tasks; None: not known
    running: bool | None = None  # True: doit runs tasks; False: it only lists them; None: not known
    always: bool = False  # whether tasks that are up to date run too
    single: bool = False  # whether tasks run without their dependencies
    each: bool = False  # whether each unit and file is reported, not only their number

    def names(self, group: str) -> bool:
        """Whether the command line may name tasks of a group."""
        return self.selected is None or any(name.startswith(f"{group}:") for name in self.selected)


class Tasks:
    """The tasks of one build. `end` ends their run."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.request = TaskRequest()
        self.show: Callable[[str], object] = lambda text: None  # the current work, on a terminal
        self._actions: list[TaskAction] = []
        self._done: set[str] = set()  # tasks that were checked and did not fail

    @cached_property
    def driver(self) -> Driver:
        """What brings results up to date. A run with nothing to do does not load it."""
        from pipeline.front.run.driver import Driver

        return Driver(self.build)

    @property
    def _stops(self) -> bool:
        """Whether the specs have errors that stop a run before the units."""
        return self.driver.stops

    def ask(self, request: TaskRequest) -> None:
        """Sets the request of the command line; called before any task is created."""
        self.request = request
        self.build.mode = WRITES if request.running else READS

    def stages(self) -> Iterator[Task]:
        """The tasks of the stages. SpecError if another set owns the folders, or for `fix=`."""
        if self.build.config.fix:
            raise SpecError(NO_FIX, NO_FIX_HINT)
        check_claims(self.build.config)
        for name, (doc, *needed) in self.build.stages.analysis.items():
            check = partial(self._check_stage, name)
            yield self._task(name, doc, check, basename=name, task_dep=needed)

    def _check_stage(self, stage: str, action: TaskAction) -> bool:
        current = self.driver.update_stage(stage)
        action.problems = self.driver.failure([self.build.stages.root(stage)])
        return current

    def _task(self, name: str, doc: str, check: Callable[[TaskAction], bool], /, **fields: Any) -> Task:
        """A task. `check` returns whether it is up to date, and leaves the rest of its work to the action."""
        uptodate = [IsCurrent(partial(self._check, name, check))]
        self._actions.append(action := TaskAction(name))
        return {"actions": [action], "uptodate": uptodate, "doc": doc, **fields}

    def _check(self, name: str, check: Callable[[TaskAction], bool], action: TaskAction) -> bool:
        """Whether a task is up to date. One that fails, or that `doit forget` names, is not."""
        current = check(action)
        if action.problems is not None:
            return False
        self._done.add(name)
        return current and name not in self.build.forgotten

    def _needs(self, group: str) -> list[str]:
        """The dependencies of a task: the group, or nothing if tasks run alone."""
        return [] if self.request.single else [group]

    def _check_names(self, group: str, names: Iterable[str]) -> None:
        """Raises InvalidCommand if a run selects a task of a group that does not exist."""
        if not self.request.running:
            return
        known = list(names)
        for name in self.request.selected or ():
            wanted = name.removeprefix(f"{group}:")
            if wanted != name and wanted not in known:
                raise InvalidCommand(unknown_task(name, [f"{group}:{name}" for name in known]))

    # ---- units

    def units(self) -> Iterator[Task]:
        """The task of all units. Or one for each, if tasks are listed, some of these are named, all are to run whether
        up to date or not, or one is ignored."""
        request = self.request
        notes = read_notes(self.build.paths.notes).items() if request.running else ()
        ignores = any(name.startswith("emit:") and IGNORED in note for name, note in notes)
        if request.running and not (request.always or request.names("emit") or ignores):
            yield self._task("emit", "print the C++ of each unit", self._check_all_units, basename="emit")
            return
        build = self.build
        named = contents.units(build.db)
        self._check_names("emit", named)
        schemas = {} if self.request.running else contents.schemas_of(build.db, named)
        for title, (family, unit) in named.items():
            check = partial(self._check_units, [(family, unit.name)])
            yield self._task(f"emit:{title}", schemas.get(title) or unit.op, check, name=title)

    def _check_all_units(self, action: TaskAction) -> bool:
        if self.driver.stops:
            action.problems = self.driver.problems
            return False
        return self._check_units(self.driver.stale_units(), action)

    def _check_units(self, units: list[At], action: TaskAction) -> bool:
        from pipeline.stages.emit import text

        action.units = units
        current = self.driver.update_units(units, lambda number: self.show(f"emit {number + 1}/{len(units)}"))
        action.problems = self.driver.failure([(text, *at) for at in units])
        return current

    # ---- files

    def files(self) -> Iterator[Task]:
        """A task for each generated file; none for a run of specs with errors."""
        if self.request.running and self._stops:
            return
        names = self.build.file_names()
        self._check_names("shard", names)
        for name in names:
            targets = [] if ANY in name else [self.build.path(name)]
            fields = {"name": name, "targets": targets, "task_dep": self._needs("emit")}
            yield self._task(f"shard:{name}", f"assemble {name}", partial(self._check_file, name), **fields)

    def manifest(self) -> Task | None:
        """The task of the manifest; None for a run of specs with errors."""
        if self.request.running and self._stops:
            return None
        paths = self.build.paths
        fields = {"targets": [paths.manifest, paths.units], "task_dep": self._needs("shard")}
        doc = "describe the generated files for other build systems"
        return self._task("manifest", doc, self._check_manifest, **fields)

    def _check_file(self, name: str, action: TaskAction) -> bool:
        if not self._may_write(action):
            return False
        changed = self.driver.new_contents(name)
        if changed and self.request.running is not False:
            action.writes, action.count = partial(self.driver.write, name, changed), len(changed)
        return not changed

    def _check_manifest(self, action: TaskAction) -> bool:
        if not self._may_write(action):
            return False
        changes = self.driver.manifest_changes()
        if changes:
            action.writes = partial(self.driver.write_manifest, changes)
        return not changes

    def _may_write(self, action: TaskAction) -> bool:
        """Whether the specs have no errors. SpecError if a file may not be written; a listing writes none."""
        if self.driver.problems.failed:
            action.problems = self.driver.problems
            return False
        if self.request.running is not False:
            self.driver.prepare()
        return True

    # ---- names

    def named(self, word: str, tasks: Sequence[str]) -> str:
        """The name of the task that writes the file at the path `word`; else `word` itself."""
        if word in tasks or word.startswith((*GROUPS, "-")) or "*" in word or not ("/" in word or "." in word):
            return word
        path, folder = os.path.abspath(word), os.path.join(os.path.abspath(self.build.config.generated), "")
        if path in map(os.path.abspath, (self.build.paths.manifest, self.build.paths.units)):
            return "manifest"
        if not path.startswith(folder):
            return word
        name, names = path.removeprefix(folder), () if self._stops else self.build.file_names()
        if name not in names and any(ANY in each for each in names):
            name = self.build.written_files().get(name, (name,))[0]
        return f"shard:{name}"

    def members(self) -> list[str]:
        """The names of the tasks of units and files; none if the specs have errors."""
        build = self.build
        if self._stops:
            return []
        return [*(f"emit:{title}" for title in contents.units(build.db)), *(f"shard:{n}" for n in build.file_names())]

    # ---- the end

    def failures(self) -> str:
        """The reports of failed tasks, without duplicates: each report of the specs has all errors."""
        reports = dict.fromkeys(action.err.rstrip() for action in self._actions if action.err)
        return "".join(f"{report}\n" for report in reports)

    def report_failures(self) -> None:
        """Prints the reports of failed tasks on standard error."""
        print_report(self.failures(), self.build.config.format)

    def end(self, selected: Sequence[str], *, failed: bool) -> None:
        """Ends a run of the `selected` tasks: prints what failed, writes the stamp, commits the results, prints
        warnings. `failed`: not all tasks succeeded."""
        self.report_failures()
        build = self.build
        complete = not failed and self.driver.is_complete()  # an interrupted run ends here too
        build.forgotten.clear(build.paths.notes, self._done, again=complete)
        if not failed:
            self._stamp(selected)
        problems = self.driver.finish(complete=complete, failed=failed)
        if problems is not None:
            print_report(problems.report, build.config.format)

    def _stamp(self, selected: Sequence[str]) -> None:
        """Writes the digests of the selected tasks' results to the file in `stamp=`, if they changed."""
        build = self.build
        if not build.config.stamp:
            return
        from pipeline.front.run.places import refusal_of
        from pipeline.front.run.stamp import stamp_of
        from pipeline.io.files import read_file, replace_file

        data, path = stamp_of(build, selected), build.config.stamp
        if problem := refusal_of(build, "stamp", path):
            hint = f"move it, or name another place: {build.config.option('stamp', 'FILE')}"
            raise InvalidCommand(two_lines(f"{build.config.option('stamp', path)}: {problem}", hint))
        try:
            if read_file(path) != data:
                replace_file(path, data)
        except OSError as error:
            raise InvalidCommand(line(f"{build.config.option('stamp', path)}: {error.strerror}")) from None
