"""`gradmill watch`: keeps the generated files up to date while spec files are edited."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress

from gradmill.cli.commands.request import Request, print_report
from gradmill.cli.commands.run import FEW, counted
from gradmill.doors import loaded
from gradmill.io.files import UNSETTLED, Stat, stat_of
from gradmill.io.stats import unchanged
from gradmill.problems.plain import line, text_of
from gradmill.problems.problem import SpecError
from gradmill.session.build import BUDGET
from gradmill.session.session import ALL_FILES, MANIFEST, Session
from gradmill.session.settings.config import Config, read_config
from gradmill.session.settings.reader import read_settings
from gradmill.session.units import titles_of

# Milliseconds: how long to collect events of one save, and the polling interval.
DEBOUNCE = 8
STEP = 2
WAKE = 250  # after this time without an event, the watcher yields an empty set of changes


def main(request: Request) -> int:
    """Remains in memory. After every save it brings everything up to date and prints one line."""
    request.expect_none("gradmill watch [specs=SET]")
    config: Config | None = request.config()
    gc.disable()
    try:
        while config is not None:
            with closing(Session.open(config, writes=True, budget=BUDGET)) as session:
                config = _Watch(session, request.variables).run()
            gc.unfreeze()
    except KeyboardInterrupt:  # even during a pass: every written file is complete
        pass
    return 0


class _Watch:
    """A session that is brought up to date after each save."""

    def __init__(self, session: Session, variables: Mapping[str, str]) -> None:
        self._session = session
        self._variables = variables
        self._beside = [each(variables) for each in loaded("beside")]  # what goes on next to it
        self._report: str | None = None  # of the last pass

    def run(self) -> Config | None:
        """Runs until the configuration is another one: that one. CodeChanged if gradmill's own code changed."""
        sys.unraisablehook = self._end_in_callback
        try:
            return self._watch()
        finally:
            self._stop()

    def _stop(self) -> None:
        for each in self._beside:
            each.stop()

    def _end_in_callback(self, about: sys.UnraisableHookArgs) -> None:
        """Ends the process on Ctrl-C as elsewhere, where Python cannot raise it."""
        if isinstance(about.exc_value, KeyboardInterrupt):
            self._stop()
            sys.stdout.flush()
            os._exit(0)
        sys.__unraisablehook__(about)

    def _watch(self) -> Config | None:
        session, config = self._session, self._session.config
        watching, wrong, settings = False, "", _stats(self._variables)
        events = _events(session)
        self._pass(first=True)
        for changed in events:
            same = unchanged(settings.items()) and session.inputs.specs_are_the_same()
            if watching and not changed and same:  # the watcher may miss a save
                continue
            settings = _stats(self._variables)
            try:
                now = read_config(read_settings(self._variables))
            except SpecError as error:
                watching, before, wrong = False, wrong, text_of(error)
                if wrong != before:
                    print(wrong, file=sys.stderr, flush=True)
                continue
            wrong = ""
            if now != config:
                of_set = (now.specs, now.release) != (config.specs, config.release)
                what = "description or the release of the spec set" if of_set else "settings"
                print(f"the {what} changed: restarting", flush=True)
                sys.stderr.write(now.release_warning)
                return now
            self._pass()
            if not watching:  # this pass has read what was saved before the watcher started
                watching = True
                gc.freeze()
                print(line(f"watching {config.specs.name}; Ctrl-C ends"), flush=True)
        return None

    def _pass(self, *, first: bool = False) -> None:
        """Brings everything up to date and prints a line about the changed units and files."""
        session, start = self._session, time.perf_counter()
        try:
            if not first:
                session.refresh()
            done = session.update(ALL_FILES)
            took = (time.perf_counter() - start) * 1e3
            before, self._report = self._report, done.problems().report
            if session.db.ran or self._report != before:
                print_report(self._report, session.config.format)
            if done.units or done.files:
                units = titles_of(session.db, done.units)
                files = _summary(done.files, "file")
                what = f"{_summary(units, 'unit')} → {files}" if units else f"nothing recomputed, {files} rewritten"
                print(line(f"{took:.0f} ms: {what}"), flush=True)
            if not done.failed:
                session.update(MANIFEST)  # after the files: no one waits for it
            session.save()
            session.unlock()
            for each in self._beside:
                each.start(session, failed=done.failed)
        except (SpecError, OSError) as error:
            print(text_of(error), file=sys.stderr, flush=True)
        session.unlock()
        gc.collect()  # now, while no save waits for a result


def _events(session: Session) -> Iterator[list[str]]:
    """The paths of changed inputs, one list per save. The list is empty once the watcher runs, and every `WAKE` ms."""
    from watchfiles import watch

    inputs = {os.path.abspath(path) for path in session.inputs.spec_paths()}
    added = session.config.added.values()
    folders = sorted({os.path.dirname(path) for path in inputs})
    inputs |= {os.path.abspath(path) for path in session.config.specs.looked_for}
    events = watch(
        *filter(os.path.isdir, folders),
        watch_filter=lambda _, path: path in inputs or any(each.has(path) for each in added),
        debounce=DEBOUNCE,
        step=STEP,
        rust_timeout=WAKE,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    for changes in events:
        yield [path for _, path in changes]


def _stats(variables: Mapping[str, str]) -> dict[str, Stat | None]:
    """The stats of all paths that decide the settings of a command line; none if it is wrong, for a look at the next
    chance."""
    with suppress(SpecError):
        return {path: stat_of(path) for path in read_settings(variables).looked_for}
    return {"": UNSETTLED}


def _summary(names: Sequence[str], what: str) -> str:
    """The names if they are few, else their number."""
    return counted(len(names), what) if len(names) > FEW else ", ".join(names) or f"no {what}"
