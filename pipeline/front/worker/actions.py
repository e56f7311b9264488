"""Runs actions: each is a run with the variables in its arguments. What it computes stays in memory for the next one.

Actions with other variables share nothing: each has a build, and a folder in the worker's cache. A file that an action
reads must be one of its inputs, if these are listed: else another build system would not run it again for an edit.
"""

from __future__ import annotations

import gc
import io
import os
import shutil
from collections.abc import Mapping, Sequence, Set
from contextlib import closing, redirect_stderr
from pathlib import Path

from msgspec import Struct

from pipeline.front.run.build import STAYS, Build
from pipeline.front.run.claims import check_claims
from pipeline.front.run.driver import Driver
from pipeline.front.run.own_code import PACKAGE
from pipeline.front.settings.config import read_config
from pipeline.front.settings.variables import VARIABLES, no_such_variable
from pipeline.front.worker.scratch import Scratch
from pipeline.problems.plain import message_of, reason
from pipeline.problems.problem import SpecError, all_of

_MOST = 8  # builds that stay in memory
_NEEDED = {"specs": "spec set", "generated": "folder for its outputs"}


class Done(Struct, frozen=True):
    """What an action did."""

    status: int  # 0, or 1 if it failed: then no generated file has changed
    report: str  # errors and warnings


class Actions:
    """The actions of one process. Those without `cache=` share a temporary folder, which `close` removes."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = dict(variables)  # of all actions
        self._kept: dict[tuple[tuple[str, str], ...], Driver] = {}
        self._scratch: Scratch | None = None
        self._count = 0

    def run(self, arguments: Sequence[str], inputs: Set[str]) -> Done:
        """Runs an action. `inputs`: the paths of its declared inputs, none if they are not known. CodeChanged if
        gradmill's own code changed: this process cannot tell then what a result would be made from."""
        printed = io.StringIO()
        try:
            with redirect_stderr(printed):
                done = self._run(self._read(arguments), inputs)
        except SpecError as error:
            done = Done(1, f"ERROR: {message_of(error)}\n")
        except OSError as error:
            done = Done(1, f"ERROR: {reason(error)}\n")
        gc.collect()
        return Done(done.status, printed.getvalue() + done.report)

    def _read(self, arguments: Sequence[str]) -> dict[str, str]:
        """The variables of an action. SpecError for other arguments, and variables that an action cannot have."""
        variables = dict(self._variables)
        for word in arguments:
            name, sign, value = word.partition("=")
            if not sign or name not in VARIABLES:
                raise SpecError(*(no_such_variable(name, value) if sign else (f"'{word}' is not a variable", _HINT)))
            variables[name] = value
        for name, value in variables.items():
            if why := VARIABLES[name].not_in_actions:
                raise SpecError(f"{name}={value}: {why}", "leave it out")
        for name, what in _NEEDED.items():
            if not variables.get(name):
                raise SpecError(f"an action names no {what}", f"also write {name}=DIR")
        return variables

    def _run(self, variables: Mapping[str, str], inputs: Set[str]) -> Done:
        key = tuple(sorted(variables.items()))
        driver = before = self._kept.pop(key, None)
        try:
            driver = self._current(before, variables)
            _check_declared(driver.build, inputs)
            updated = driver.update(refresh=driver is before)
            driver.save()
            if driver is not before:
                gc.freeze()  # the next actions need not look for garbage in what stays
        except BaseException:  # whatever its state is, the next action starts from nothing
            if driver is not None:
                self._drop(driver)
            raise
        driver.build.unlock()
        self._kept[key] = driver
        if len(self._kept) > _MOST:
            self._drop(self._kept.pop(next(iter(self._kept))))
        return Done(int(updated.failed), driver.build.config.release_warning + updated.problems.report)

    def _current(self, kept: Driver | None, variables: Mapping[str, str]) -> Driver:
        """The build of these variables: the last one, unless what they say has changed, as by an edited description."""
        folder = kept.build.config.cache if kept is not None else ""
        named = variables if variables.get("cache") else {**variables, "cache": folder or self._new_folder()}
        config = read_config(named)
        if kept is not None and kept.build.config == config:
            return kept
        if kept is not None:
            kept.build.close()
        check_claims(config)
        return Driver(Build(config, mode=STAYS))

    def _new_folder(self) -> str:
        """A cache for a build that names none."""
        self._scratch = self._scratch or Scratch()
        self._count += 1
        return os.path.join(self._scratch.path, str(self._count))

    def _drop(self, kept: Driver) -> None:
        """Ends a build, and removes its folder if it is temporary."""
        kept.build.close()
        folder = kept.build.config.cache
        if self._scratch is not None and os.path.dirname(folder) == self._scratch.path:
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Ends all builds, and removes their temporary folder."""
        for kept in self._kept.values():
            kept.build.close()
        self._kept.clear()
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None


_HINT = "write name=value, as in specs=DIR generated=DIR"


def run_once(variables: Mapping[str, str], arguments: Sequence[str]) -> Done:
    """Runs one action. CodeChanged as in `Actions.run`."""
    with closing(Actions(variables)) as actions:
        return actions.run(arguments, frozenset())


def _check_declared(build: Build, inputs: Set[str]) -> None:
    """SpecError with each file that the build reads, and that is not among its inputs, if these are known."""
    if not inputs:
        return
    declared = {os.path.abspath(path) for path in inputs}
    errors = []
    for path in map(os.path.abspath, filter(os.path.exists, build.inputs.spec_paths())):
        if not path.startswith(PACKAGE + os.sep) and declared.isdisjoint((path, *map(str, Path(path).parents))):
            errors.append(
                SpecError(f"{path}: this file is read, but is not an input of the action", "add it to the rule's specs")
            )
    if errors:
        raise all_of(errors)
