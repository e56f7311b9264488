"""gradmill's tasks: the stages, one task a unit that has work, one task a generated file.

A task is a view of the queries at its root. Looking whether it is up to date brings these up to date, in the process
that has the database; what is left to its action is to fail, or to write a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from doit import create_after
from doit.exceptions import InvalidCommand

from pipeline.front.doit.effect import Effect, IsCurrent, plainly
from pipeline.front.output.claims import check_claims
from pipeline.front.output.outputs import Written
from pipeline.front.run import contents
from pipeline.front.run.build import Build
from pipeline.front.run.contents import At
from pipeline.front.run.notes import clear_forgotten
from pipeline.front.run.stale import StaleUnits, named_units
from pipeline.front.settings.hints import GROUPS, two_lines, unknown_task
from pipeline.problems.plain import line, message_of
from pipeline.problems.problem import Problem, SpecError

Task = dict[str, Any]

BATCH = 64  # units that share a task in a run that has more than so many


class Tasks:
    """The tasks of one build. `selected` are the names that the command line gives, None where they are not known."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self._stale = StaleUnits(build)
        self.selected: Sequence[str] | None = None
        self.each = False  # whether each unit and file is reported, not only how many there are
        self.always = False  # whether what is up to date is to run too
        self.single = False  # whether tasks are to run without those that they depend on
        self.running: bool | None = None  # whether doit runs tasks, and does not only list them; None: nobody knows
        self._report: str | None = None
        self._done: set[str] = set()  # tasks that were looked at, and did not fail
        self._failed = False
        self._written = False
        self._effects: list[Effect] = []
        self._writing: dict[str, Effect] = {}  # of files that are not as they should be
        self._told = False  # whether the manifest says what there is

    def stages(self) -> Iterator[Task]:
        """The tasks of the stages."""
        if self.build.config.fix:
            from pipeline.front.settings.config import NO_FIX, NO_FIX_HINT

            raise InvalidCommand(f"{NO_FIX}\n  {NO_FIX_HINT}")
        if not self.build.nothing_changed:
            try:
                check_claims(self.build.config)
            except SpecError as error:
                raise InvalidCommand(message_of(error)) from None
        for name, (doc, *needed) in self.build.stages.analysis.items():
            look = lambda effect, name=name: self._stage_holds(name, effect)  # noqa: E731
            yield self._task(name, doc, look, basename=name, task_dep=needed)

    def _task(self, label: str, doc: str, look: Callable[[Effect], bool], **fields: Any) -> Task:
        uptodate = [True] if self.build.nothing_changed else [IsCurrent(partial(self._holds, label, look))]
        self._effects.append(effect := Effect(label))
        return {"actions": [effect], "uptodate": uptodate, "doc": doc, **fields}

    def _holds(self, label: str, look: Callable[[Effect], bool], effect: Effect) -> bool:
        """Whether a task has no work; it has some too when doit was told to forget it."""
        holds = look(effect)
        if not effect.failure:
            self._done.add(label)
        return holds and label not in self.build.forgotten

    def _stage_holds(self, name: str, effect: Effect) -> bool:
        from pipeline.query.account import ran_for

        db, root = self.build.db, self.build.stages.root(name)
        holds = db.holds(*root)
        db.digest(*root)
        effect.failure = self._failure([root])
        ran = ran_for(db, root, lambda row: row[0].startswith(f"{name}:"))
        return holds and not effect.failure and not ran

    def _fails(self, roots: Sequence[Any]) -> bool:
        """Whether the rows under `roots` have a mistake."""
        from pipeline.problems.problem import Problem
        from pipeline.query.account import problems

        return self.build.failed(problems(self.build.db, roots, Problem))

    def _failure(self, roots: Sequence[Any]) -> str:
        """The report of all mistakes, where the rows under `roots` have one."""
        return self.build.report(self.build.problems()) if self._fails(roots) else ""

    # ---- units

    def units(self) -> Iterator[Task]:
        """A task for each unit: those that have work; all, where they are listed or asked for by name."""
        build = self.build
        asked = self.selected is None or any(name.startswith("emit") for name in self.selected)
        if self.running and not asked and not self.always:
            if build.nothing_changed or self._fails(build.stages.before_units()):
                return
            found = self._stale.find()
        else:
            found = named_units(build)
        if self.running:
            self._check_asked("emit", found)
        size = BATCH if self.running and not asked and len(found) > BATCH else 1
        ignored = self._ignored()
        named = [name for name in found if f"emit:{name}" not in ignored]
        alone = [[name] for name in found if f"emit:{name}" in ignored]
        docs = {} if self.running else contents.schemas_of(build.db, contents.units(build.db))
        for batch in (*(named[i : i + size] for i in range(0, len(named), size)), *alone):
            look = lambda effect, units=[found[name][0] for name in batch]: self._units_hold(units, effect)  # noqa: E731
            name = f"{batch[0]} and {len(batch) - 1} more" if len(batch) > 1 else batch[0]
            task = self._task(f"emit:{name}", docs.get(batch[0]) or found[batch[0]][1], look, name=name)
            task["actions"][0].units = len(batch)
            yield task

    def _ignored(self) -> set[str]:
        """The tasks that doit was told to ignore."""
        from pipeline.front.run.notes import IGNORED, read_notes

        return {task for task, note in read_notes(self.build.paths.notes).items() if IGNORED in note}

    def _units_hold(self, units: Sequence[At], effect: Effect) -> bool:
        from pipeline.stages.emit import text

        db = self.build.db
        roots = [(text, *at) for at in units]
        holds = all((text.name, *at) not in db.ran and db.holds(text, *at) for _, *at in roots)
        for _, *at in roots:
            self._stale.bring(*at)
        self.build.inputs.code.check()  # at once: code that changes after that is the next run's business
        effect.failure = self._failure(roots)
        return holds and not effect.failure

    # ---- files

    def files(self) -> Iterator[Task]:
        """A task for each generated file."""
        build = self.build
        if self._stops():
            return
        names = build.file_names()
        if self.running:
            self._check_asked("shard", names)
        for name in names:
            look = lambda effect, name=name: self._file_holds(name, effect)  # noqa: E731
            fields = {"name": name, "targets": [build.path(name)], "task_dep": self._needs("emit")}
            yield self._task(f"shard:{name}", f"assemble {name}", look, **fields)

    def _needs(self, group: str) -> list[str]:
        """What a task depends on, but where it is to run alone."""
        return [] if self.single else [group]

    def _stops(self) -> bool:
        """Whether a run ends before any file is written. Who only lists or removes files hears of all the same."""
        return bool(self.running) and not self.build.nothing_changed and self._fails(self.build.stages.before_units())

    def _check_asked(self, group: str, names: Iterable[str]) -> None:
        """Refuses tasks of a group that the command line names and that do not exist."""
        known = list(names)
        for asked in self.selected or ():
            wanted = asked.removeprefix(f"{group}:")
            if wanted != asked and wanted not in known:
                raise InvalidCommand(unknown_task(asked, [f"{group}:{name}" for name in known]))

    def _file_holds(self, name: str, effect: Effect) -> bool:
        from pipeline.front.run.places import new_bytes

        effect.failure = self._mistakes()
        if effect.failure:
            return False
        self._prepare()
        data = new_bytes(self.build, name)
        if data is None:
            return not self.always
        effect.path, effect.data = self.build.path(name), data
        self._writing[name] = effect
        return False

    def _mistakes(self) -> str:
        """The report of all mistakes, empty where there are none. What it is about does not change during a run."""
        if self._report is None:
            problems = self.build.problems()
            self._report = self.build.report(problems)
            self._failed = self.build.failed(problems)
        return self._report if self._failed else ""

    def report_of_all(self) -> str:
        """All problems as text."""
        self._mistakes()
        return self._report or ""

    def _prepare(self) -> None:
        """What comes before the first file is written; nothing where tasks are only listed."""
        if self.running is not False and not self._written:
            from pipeline.front.run.places import check_places, remove_orphans

            check_places(self.build)
            remove_orphans(self.build)
            self._written = True

    def manifest(self) -> Task | None:
        """The task of the manifest."""
        build = self.build
        if self._stops():
            return None
        fields = {"targets": [build.paths.manifest], "task_dep": self._needs("shard")}
        return self._task("manifest", "tell other build systems what was generated", self._manifest_holds, **fields)

    def _manifest_holds(self, effect: Effect) -> bool:
        build = self.build
        effect.failure = self._mistakes()
        if effect.failure:
            return False
        self._prepare()
        from pipeline.front.run.places import manifest_is_there, write_manifest

        if self.running is False:
            return manifest_is_there(build)
        wrote = write_manifest(build)
        self._told = True
        return not wrote

    def named(self, word: str, tasks: Sequence[str]) -> str:
        """The name of a task that a word of the command line may be the path of a file of; else the word itself."""
        if word in tasks or word.startswith((*GROUPS, "-")) or "*" in word or not ("/" in word or "." in word):
            return word
        path, folder = os.path.abspath(word), os.path.join(os.path.abspath(self.build.config.generated), "")
        if path == os.path.abspath(self.build.paths.manifest):
            return "manifest"
        return f"shard:{path.removeprefix(folder)}" if path.startswith(folder) else word

    def members(self) -> list[str]:
        """The names of the tasks of units and files; none where the specs have mistakes."""
        build = self.build
        if not build.nothing_changed and self._fails(build.stages.before_units()):
            return []
        return [*(f"emit:{name}" for name in named_units(build)), *(f"shard:{name}" for name in build.file_names())]

    # ---- the end

    def failures(self) -> str:
        """The reports of the tasks that failed, each once: those of the specs tell all mistakes."""
        found = dict.fromkeys(effect.err.rstrip() for effect in self._effects if effect.err)
        return "".join(f"{report}\n" for report in found)

    def finish(self, selected: Sequence[str], *, failed: bool) -> str:
        """Keeps what the run found; gives the warnings."""
        from pipeline.stages.shard import files

        build = self.build
        if build.nothing_changed:
            assert build.record is not None
            self._stamp(selected)
            return build.record.made.report
        known = not failed and build.db.current(files, *build.layout)  # it was asked for in this run, or need not be
        noted = [self._note(name) for name in build.file_names()] if known else [False]
        whole = self._told and all(noted)  # a run that is interrupted ends here too
        clear_forgotten(build.paths.notes, build.forgotten, self._done, again=whole)
        warnings = "" if failed else self.report_of_all() if whole else build.report(self._seen())
        if not failed:
            self._stamp(selected)
        build.commit(warnings, complete=whole, failed=failed)
        return warnings

    def count_of_units(self) -> int:
        """How many units there are."""
        build = self.build
        fails = not build.nothing_changed and self._fails(build.stages.before_units())
        return 0 if fails else build.count_of_units()

    def _seen(self) -> list[Problem]:
        """The problems of the stages that have been brought up to date already."""
        build = self.build
        return build.problems_of([root for root in build.stages.roots() if build.db.current(*root)])

    def _note(self, name: str) -> bool:
        """Notes a file that this run may have written, whichever process did; says whether it is as it should be."""
        from pipeline.stages.shard import made

        build, path = self.build, self.build.path(name)
        if not build.db.current(made, *build.layout, name):
            return False
        wanted = made(build.db, *build.layout, name).xxh3
        written = self._writing[name].written if name in self._writing else None
        if written is not None:
            build.outputs.known[os.path.abspath(path)] = Written(written, wanted)
        return build.outputs.holds(path, wanted)

    def _stamp(self, selected: Sequence[str]) -> None:
        """Writes what the selected tasks made to the file that `stamp=` names, if that changed."""
        build = self.build
        if not build.config.stamp:
            return
        from pipeline.front.run.places import stamp_refusal
        from pipeline.front.run.stamp import stamp_of
        from pipeline.io.files import read_file, replace_file

        data, path = stamp_of(build, selected), build.config.stamp
        if problem := stamp_refusal(build):
            raise InvalidCommand(two_lines(f"stamp={path}: {problem}", "move it, or name another place: stamp=FILE"))
        try:
            if read_file(path) != data:
                replace_file(path, data)
        except OSError as error:
            raise InvalidCommand(line(f"stamp={path}: {error.strerror}")) from None


def namespace(build: Build) -> dict[str, Any]:
    """doit's view of a build: tasks and settings, as a dodo.py has them."""
    from pipeline.front.doit.backend import OTHERS, Codec
    from pipeline.front.doit.reporter import reporter_for

    tasks = Tasks(build)

    def task_stages() -> Iterator[Task]:
        yield from tasks.stages()

    @create_after(executed="match")  # type: ignore[untyped-decorator]
    def task_emit() -> Iterator[Task]:
        """print the C++ of each unit"""
        with plainly():
            yield from tasks.units()

    @create_after(executed="emit")  # type: ignore[untyped-decorator]
    def task_shard() -> Iterator[Task]:
        """assemble each generated file"""
        with plainly():
            yield from tasks.files()

    @create_after(executed="match")  # type: ignore[untyped-decorator]
    def task_manifest() -> Task | None:
        """tell other build systems what was generated from what"""
        with plainly():
            return tasks.manifest()

    return {
        "TASKS": tasks,
        "DOIT_CONFIG": {
            "backend": "gradmill",
            "codec_cls": Codec,
            "default_tasks": [*build.stages.analysis, "emit", "shard", "manifest"],
            "dep_file": build.paths.notes + OTHERS,
            "reporter": reporter_for(tasks),
            "verbosity": 2,
        },
        "task_stages": task_stages,
        "task_emit": task_emit,
        "task_shard": task_shard,
        "task_manifest": task_manifest,
    }
