"""Runs actions: each is a run with the variables in its arguments. What it computes stays in memory for the next one,
if that has the same variables; one with others starts cold.

A file that an action reads must be one of its inputs, if these are listed: else another build system would not run it
again for an edit.
"""

from __future__ import annotations

import gc
import io
import os
from collections.abc import Mapping, Sequence, Set
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from gradmill.problems.plain import text_of
from gradmill.problems.problem import SpecError, all_of
from gradmill.session.build import BUDGET
from gradmill.session.own_code import PACKAGE
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config
from gradmill.session.settings.variables import VARIABLES, no_such_variable

_NEEDED = {"specs": "spec set", "generated": "folder for its outputs"}


class Done(Struct, frozen=True):
    """What an action did."""

    status: int  # 0, or 1 if it failed: then no generated file has changed
    report: str  # errors and warnings


class Actions:
    """The actions of one process, of which the last session is kept for more actions with its variables. What names no
    `cache=` has a temporary folder, which `close` removes."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = dict(variables)  # of all actions
        self._kept: tuple[dict[str, str], Session] | None = None
        self._scratch: TemporaryDirectory[str] | None = None

    def run(self, arguments: Sequence[str], inputs: Set[str]) -> Done:
        """Runs an action. `inputs`: the paths of its declared inputs, none if they are not known. CodeChanged if
        gradmill's own code changed: this process cannot tell then what a result would be made from."""
        printed = io.StringIO()
        try:
            with redirect_stderr(printed):
                done = self._run(self._read(arguments), inputs)
        except (SpecError, OSError) as error:
            done = Done(1, f"ERROR: {text_of(error)}\n")
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

    def _run(self, variables: dict[str, str], inputs: Set[str]) -> Done:
        before = self._kept[1] if self._kept is not None and self._kept[0] == variables else None
        try:
            session = self._current(before, variables)
            self._kept = variables, session
            _check_declared(session, inputs)
            if session is before:
                session.refresh()
            updated = session.update()
            session.save()
        except BaseException:  # whatever its state is, the next action starts from nothing
            self.close()
            raise
        if session is not before:
            gc.freeze()  # the next actions need not look for garbage in what stays
        session.unlock()
        return Done(int(updated.failed), session.config.release_warning + updated.problems().report)

    def _current(self, kept: Session | None, variables: Mapping[str, str]) -> Session:
        """The session of these variables: the last one, unless what they say has changed, as by an edited
        description."""
        if kept is None:
            self.close()
        if not variables.get("cache"):
            self._scratch = self._scratch or TemporaryDirectory(prefix="gradmill-worker.")
            variables = {**variables, "cache": self._scratch.name}
        config = read_config(variables)
        if kept is not None and kept.config == config:
            return kept
        if kept is not None:
            kept.close()
        return Session.open(config, writes=True, budget=BUDGET)

    def close(self) -> None:
        """Ends the session, and removes the temporary folder."""
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None


_HINT = "write name=value, as in specs=DIR generated=DIR"


def _check_declared(session: Session, inputs: Set[str]) -> None:
    """SpecError with each file that the session reads, and that is not among its inputs, if these are known."""
    if not inputs:
        return
    declared = {os.path.abspath(path) for path in inputs}
    errors = [
        SpecError(f"{path}: this file is read, but is not an input of the action", "add it to the rule's specs")
        for path in map(os.path.abspath, filter(os.path.exists, session.inputs.spec_paths()))
        if not path.startswith(PACKAGE + os.sep) and declared.isdisjoint((path, *map(str, Path(path).parents)))
    ]
    if errors:
        raise all_of(errors)
