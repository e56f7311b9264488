"""gradmill's tasks for doit: one for each stage, each family of units, each generated file, and the manifest.

`units=1` gives each unit a task. All tasks update one session, in one process. docs/reference.md says what doit's
commands do here; `gradmill` is a program of its own, which does not use this file.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from threading import RLock
from typing import Any

from doit import get_var
from doit.exceptions import InvalidDodoFile, TaskError, TaskFailed
from doit.reporter import ConsoleReporter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "pipeline"))  # not another, installed one
from gradmill.cli.commands.request import print_report
from gradmill.cli.commands.run import done, up_to_date
from gradmill.cli.start.command import prepare
from gradmill.io.decoding import decode_json
from gradmill.problems.plain import lines, text_of
from gradmill.problems.problem import SpecError
from gradmill.session.cleaning import clean
from gradmill.session.own_code import CodeChanged
from gradmill.session.session import MANIFEST, Selection, Session, Updated
from gradmill.session.settings.config import NO_FIX, NO_FIX_HINT, read_config
from gradmill.session.settings.reader import read_settings
from gradmill.session.settings.variables import VARIABLES
from gradmill.session.units import At, units
from gradmill.stages.requested import families

LOCK = RLock()  # of the session, with `doit -n`: threads run actions, and the main one asks what is up to date
PROCESS = os.getpid()
EXPECTED = (SpecError, CodeChanged, OSError)
MADE = {"made": True}  # what doit keeps of a task that succeeded, until `doit forget`


def variables() -> dict[str, str]:
    """The variables of the command line. doit has their values, and no list of names: `sys.argv` has those."""
    words = [word.partition("=")[0] for word in sys.argv[1:] if "=" in word and not word.startswith("-")]
    values = {name: get_var(name, None) for name in (*VARIABLES, "units", *words)}
    return {name: value for name, value in values.items() if value is not None}


def opened() -> tuple[Session, bool]:
    """The session, and whether each unit has a task. InvalidDodoFile if the command line or the set is wrong."""
    given = variables()
    each = given.pop("units", "0")
    try:
        if each not in ("0", "1"):
            raise SpecError(f"units={each}", "write units=0 or units=1")
        if "stamp" in given:
            raise SpecError("stamp=: doit writes no stamp", f"write gradmill stamp={given['stamp']}")
        config = read_config(settings := read_settings(given))
        sys.stderr.write(settings.notice + config.release_warning)
        if config.fix:
            raise SpecError(NO_FIX, NO_FIX_HINT)
        return Session.open(config, writes=True), each == "1"
    except EXPECTED as error:
        raise InvalidDodoFile(text_of(error)) from None


class Results:
    """What the actions have done: whether there is something to save, and whether a file was written."""

    unsaved = wrote = False

    def save(self) -> None:
        """Keeps what was computed, once; the last thing that a task does, also one that failed."""
        with LOCK:
            if self.unsaved and os.getpid() == PROCESS and (self.wrote or session.db.ran):
                self.unsaved = False
                session.save()


prepare()
session, EACH_UNIT = opened()
atexit.register(session.close)
results = Results()


def task(check: Callable[[], bool], work: Callable[[], Updated], **fields: Any) -> dict[str, Any]:
    """A task. `check`: whether it is up to date, which writes nothing; `work`: what it does else."""

    bugs: list[Exception] = []

    def current(task: Any, values: dict[str, Any]) -> bool:
        with LOCK:
            try:
                return bool(values) and check()
            except EXPECTED:
                return False  # the action reports it
            except Exception as error:
                bugs.append(error)
                return False

    def action() -> dict[str, bool] | TaskFailed | TaskError:
        if os.getpid() != PROCESS:
            return TaskError("gradmill's tasks share one process\n  leave out -P process: -n alone uses threads")
        if bugs:
            raise bugs[0]
        with LOCK:
            results.unsaved = True
            try:
                updated = work()
            except EXPECTED as error:
                return TaskFailed(text_of(error))
            results.wrote = results.wrote or bool(updated.files)
            return TaskFailed(updated.problems().report) if updated.failed else MADE

    return {"uptodate": [current], "actions": [action], "teardown": [results.save], **fields}


# ---- the tasks


def stage_is_current(name: str) -> bool:
    """Whether a stage is up to date, and has no errors."""
    return session.is_current(name) and not session.fails([session.stages.root(name)])


def stale_units(family: str) -> list[At]:
    """The units of a family that have to be printed again."""
    return [at for at in session.stale_units() if at[0] == family]


def family_is_current(family: str) -> bool:
    """Whether the units of a family are up to date."""
    return not stale_units(family)


def unit_is_current(at: At) -> bool:
    """Whether a unit is up to date."""
    return at not in session.stale_units()


def update_family(family: str) -> Updated:
    """Brings the units of a family up to date."""
    return session.update(Selection(units=stale_units(family)))


def task_stages() -> Iterator[dict[str, Any]]:
    """the stages before any unit"""
    for name, (doc, *needs) in session.stages.analysis.items():
        yield task(
            partial(stage_is_current, name),
            partial(session.update, Selection([name])),
            basename=name,
            doc=doc,
            task_dep=needs,
        )


def task_emit() -> Iterator[dict[str, Any]]:
    """print the C++ of each unit"""
    before = [stage for stage in ("match", "graphs") if stage in session.stages.analysis]

    titles: dict[str, list[str]] = {family: [] for family in families(session.db)}
    for title, (family, unit) in units(session.db).items() if EACH_UNIT else ():
        titles[family].append(f"emit:{family}:{title}")
        at = (family, unit.name)
        yield task(
            partial(unit_is_current, at),
            partial(session.update, Selection(units=[at])),
            name=f"{family}:{title}",
            doc=unit.overload,
            task_dep=before,
        )
    for family, of_family in titles.items():
        doc = f"print the units of {family}"
        if EACH_UNIT:
            yield {"name": family, "doc": doc, "task_dep": of_family, "actions": None}
            continue
        yield task(
            partial(family_is_current, family),
            partial(update_family, family),
            name=family,
            doc=doc,
            task_dep=before,
        )


def task_shard() -> Iterator[dict[str, Any]]:
    """assemble each generated file"""
    for name in session.file_names():
        yield task(
            partial(session.is_file_current, name),
            partial(session.update, Selection(files=[name])),
            name=name,
            doc=f"assemble {name}",
            task_dep=["emit"],
            targets=[] if "{" in name else [session.path(name)],
            clean=[(remove, [name])],
        )


def task_manifest() -> dict[str, Any]:
    """describe the generated files and their inputs for other build systems"""

    def end() -> Updated:
        updated = session.update(MANIFEST)
        if not updated.failed:
            results.save()
        return updated

    return task(
        lambda: not results.wrote and not session.db.ran and session.is_recorded(),
        end,
        task_dep=["shard"],
        targets=[session.paths.manifest, session.paths.units],
        clean=[(remove, [""])],
    )


def remove(name: str, dryrun: bool) -> None:
    """Deletes the files of one name, "" for the manifest, if they are as gradmill wrote them."""
    deleted, kept = clean(session, name, dry_run=dryrun)
    title = f"shard:{name}" if name else "manifest"
    sys.stdout.write(lines([*(f"{title} - removing file '{path}'" for path in deleted), *kept]))
    if not dryrun:
        session.outputs.record.prune()


# ---- what doit prints, and keeps


class Reporter(ConsoleReporter):  # type: ignore[misc]
    """A line for each stage, for all units and for all files; errors once, without doit's frame."""

    desc = "console output, a line for each group of tasks"
    nouns = {"emit": "unit" if EACH_UNIT else "family", "shard": "file"}

    def __init__(self, outstream: Any, options: dict[str, Any]) -> None:
        super().__init__(outstream, options)
        self.ran: dict[str, list[str]] = {name: [] for name in self.nouns}
        self.current = dict.fromkeys(self.nouns, 0)
        self.messages: set[str] = set()

    def execute_task(self, task: Any) -> None:
        if task.subtask_of in self.ran:
            self.ran[task.subtask_of] += [task.name.partition(":")[2]] if task.actions else []
        elif task.name in self.ran:  # doit runs a group after all of its tasks
            self.sum_up(task.name)
        else:
            super().execute_task(task)

    def skip_uptodate(self, task: Any) -> None:
        if task.subtask_of in self.current:
            self.current[task.subtask_of] += 1
        else:
            super().skip_uptodate(task)

    def sum_up(self, name: str) -> None:
        """Prints the lines of a group."""
        ran, current, noun = self.ran[name], self.current[name], self.nouns[name]
        self.write(done(name, ran, len(ran), noun) if ran else "")
        self.write(up_to_date(name, current, noun) if current else "")
        self.ran[name], self.current[name] = [], 0

    def add_failure(self, task: Any, fail: Any) -> None:
        if fail.get_name() != "UnmetDependency" and fail.message not in self.messages:
            self.messages.add(fail.message)
            self.outstream.flush()
            print_report(f"{fail.message.rstrip()}\n{''.join(fail.traceback)}", session.config.format)

    def complete_run(self) -> None:
        for name in self.ran:
            self.sum_up(name)
        self.outstream.flush()
        sys.stderr.write("".join(f"{error}\n" for error in self.runtime_errors))
        if not self.messages:
            print_report(session.clean_problems().report, session.config.format)


def usable_database(path: str) -> str:
    """The path of the database, which may be missing; a damaged one is deleted, with which doit would end."""
    with suppress(OSError):  # a cache that cannot be written: doit reports it
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path) and not is_whole(path):
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)
    return path


def is_whole(path: str) -> bool:
    """Whether a database of doit's can be read."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA quick_check")
            for (data,) in connection.execute("SELECT task_data FROM doit"):
                decode_json(data, dict[str, object])
    except (sqlite3.Error, ValueError, TypeError):
        return False
    return True


DOIT_CONFIG = {
    "backend": "sqlite3",
    "default_tasks": [*session.stages.analysis, "emit", "shard", "manifest"],
    "dep_file": usable_database(session.paths.tasks),
    "par_type": "thread",
    "reporter": Reporter,
    "verbosity": 2,
}
