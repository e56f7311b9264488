"""`doit watch`: keeps the generated files up to date while spec files are edited."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pipeline.code.files import CodeChanged
from pipeline.front.commands.command import BuildCommand, say
from pipeline.front.output.claims import check_claims
from pipeline.front.run.build import Build
from pipeline.front.run.own_code import PACKAGE
from pipeline.front.run.resident import Resident
from pipeline.front.settings.config import Config, read_config
from pipeline.front.start.main import start_anew
from pipeline.problems.plain import line, message_of, reason
from pipeline.problems.problem import SpecError

# Milliseconds: how long to collect events of one save, and how often to look.
DEBOUNCE = 8
STEP = 2
WAKE = 250  # how often the watcher says that nothing happened
SETTLE = 0.1  # seconds that code is left alone before it is loaded

_MANY = 8  # names that a line has room for


class Watch(BuildCommand):
    """Stays resident; after every save, brings everything up to date and says so in one line."""

    name = "watch"
    doc_purpose = "keep generated files up to date while specs are edited"
    doc_usage = "[specs=SET …]"
    doc_description = (
        "Ends with Ctrl-C. When gradmill's own code changes, or the description or the release of the spec set, it"
        " starts itself anew."
    )

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        self.expect_none(arguments, "doit watch [specs=SET]")
        check_claims(build.config)
        gc.disable()
        with suppress(KeyboardInterrupt):  # in the middle of a pass: what was written is whole
            self._watch(build, self.variables())
        return 0

    def _watch(self, build: Build, variables: Mapping[str, str]) -> None:
        resident = Resident(build)
        watching, wrong = False, ""
        events = _events(build)
        self._pass(resident, first=True)
        for changed in events:
            if watching and not changed and build.inputs.specs_are_the_same():  # the watcher may miss a save
                continue
            if any(map(_is_source, changed)):
                _start_anew()
            now, before = _wanted(variables), wrong
            if isinstance(now, str):
                watching, wrong = False, now
                if wrong != before:
                    print(wrong, file=sys.stderr, flush=True)
                continue
            wrong = ""
            if (now.specs, now.release) != (build.config.specs, build.config.release):
                _start_anew("the description or the release of the spec set changed")
            self._pass(resident)
            if not watching:  # what was saved before the watcher was there has been seen by now
                watching = True
                gc.freeze()
                print(line(f"watching {build.config.specs.name}; Ctrl-C ends"), flush=True)

    def _pass(self, resident: Resident, *, first: bool = False) -> None:
        """One pass, and a line about what it did."""
        start = time.perf_counter()
        try:
            done = resident.update(anew=not first)
            took = (time.perf_counter() - start) * 1e3
            if done.news:
                say(done.report, resident.format)
            if done.units or done.files:
                what = f"{_summary(done.units, 'unit')} → {_summary(done.files, 'file')}"
                print(line(f"{took:.0f} ms: {what}"), flush=True)
            resident.save()
        except CodeChanged:
            _start_anew()
        except SpecError as error:
            print(message_of(error), file=sys.stderr, flush=True)
        except OSError as error:
            print(reason(error), file=sys.stderr, flush=True)
        resident.rest()
        gc.collect()  # nobody waits now


def _events(build: Build) -> Iterator[list[str]]:
    """The inputs that changed, save by save; nothing as soon as the watcher is there, and now and then."""
    from watchfiles import Change, watch

    inputs = {os.path.abspath(path) for path in build.inputs.spec_paths()}
    graphs = build.config.graphs
    folders = sorted({*(os.path.dirname(path) for path in inputs), PACKAGE})
    inputs |= {os.path.abspath(path) for path in build.config.specs.looked_for}
    found = watch(
        *filter(os.path.isdir, folders),
        watch_filter=lambda change, path: (
            path in inputs or graphs.has(path) or (_is_source(path) and change != Change.deleted)
        ),
        debounce=DEBOUNCE,
        step=STEP,
        rust_timeout=WAKE,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    for changes in found:
        yield [path for _, path in changes]


def _is_source(path: str) -> bool:
    return path.startswith(PACKAGE + os.sep) and path.endswith((".py", ".cpp"))


def _wanted(variables: Mapping[str, str]) -> Config | str:
    """What a run would be asked to do by now, or why it would not begin."""
    try:
        return read_config(variables)
    except SpecError as error:
        return message_of(error)


def _start_anew(why: str = "gradmill's own code changed") -> None:
    print(f"{why}: starting anew", flush=True)
    time.sleep(SETTLE)
    start_anew()


def _summary(names: Sequence[str], what: str) -> str:
    """The names when they are few, their number when they are many."""
    if len(names) > _MANY:
        return f"{len(names)} {what}s"
    return ", ".join(names) or f"no {what}"
