"""`doit watch`: keeps the generated files up to date while spec files are edited."""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import suppress
from typing import Any

from pipeline.build.engine import Build, Missing
from pipeline.build.sources import PACKAGE
from pipeline.build.step import Failed
from pipeline.front.commands.command import BuildCommand

# Milliseconds: how long to collect events of one save, and how often to look.
DEBOUNCE = 8
STEP = 2
WAKE = 250  # how often the watcher says that nothing happened


class Watch(BuildCommand):
    """Stays resident; after every save, brings everything up to date and says so in one line."""

    name = "watch"
    doc_purpose = "keep generated files up to date while specs are edited"
    doc_usage = "[specs=SET …]"
    doc_description = "Ends with Ctrl-C. When gradmill's own code changes, it starts itself anew."

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        with suppress(KeyboardInterrupt):  # in the middle of a pass: what was written is whole
            self._watch(build)
        return 0

    def _watch(self, build: Build) -> None:
        from watchfiles import Change, watch

        from pipeline.build.resident import Resident

        resident = Resident(build)
        inputs = {os.path.abspath(location.path) for _, location in build.config.specs.inputs()}
        folders = sorted({os.path.dirname(path) for path in inputs} | {PACKAGE})
        wanted = lambda _change, path: path in inputs or _is_source(path)  # noqa: E731
        events = watch(
            *folders,
            watch_filter=wanted,
            debounce=DEBOUNCE,
            step=STEP,
            rust_timeout=WAKE,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
        watching = False
        self._pass(build, resident)
        for changes in events:
            if watching and not changes:
                continue
            if any(_is_source(path) and change != Change.deleted for change, path in changes):
                print("gradmill's own code changed: starting anew", flush=True)
                os.execv(sys.executable, [sys.executable, "-m", "doit", *sys.argv[1:]])  # noqa: S606
            self._pass(build, resident)
            if not watching:  # what was saved before the watcher was there has been seen by now
                watching = True
                self._warm(resident)
                print(f"watching {build.config.specs.name}; Ctrl-C ends", flush=True)

    def _warm(self, resident: Any) -> None:
        with suppress(Failed, OSError, Missing):  # told by the pass
            resident.warm()
            gc.collect()
            gc.freeze()

    def _pass(self, build: Build, resident: Any) -> None:
        start = time.perf_counter()
        try:
            updated = resident.update()
        except Failed as failed:
            from pipeline.diagnose import report_problems

            print(report_problems(build, failed), end="", file=sys.stderr, flush=True)
            return
        except (OSError, Missing) as error:
            print(f"{error}", file=sys.stderr, flush=True)
            return
        took = (time.perf_counter() - start) * 1e3
        nodes = [name.removeprefix("emit:") for name in updated.ran if name.startswith("emit:")]
        if updated.ran:
            print(f"{took:.0f} ms: {_summary(nodes, 'Node')} → {_summary(list(updated.written), 'file')}", flush=True)
        resident.save()
        gc.collect()  # nobody waits now


def _is_source(path: str) -> bool:
    return path.startswith(PACKAGE + os.sep) and path.endswith((".py", ".cpp"))


def _summary(names: list[str], what: str) -> str:
    """The names when they are few, their number when they are many."""
    if len(names) > 4:
        return f"{len(names)} {what}s"
    return ", ".join(names) or f"no {what}"
