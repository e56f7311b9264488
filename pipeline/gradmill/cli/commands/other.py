"""Reads the set that `against=` names, which a command compares its own with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import TypeVar

from gradmill.cli.commands.request import Failed
from gradmill.problems.problem import SpecError
from gradmill.session.revision import write_revision
from gradmill.session.session import Session
from gradmill.session.settings.config import read_against
from gradmill.session.settings.variables import REVISION

T = TypeVar("T")


def read_other(build: Session, variables: Mapping[str, str], read: Callable[[Session], T], *shared: str) -> T:
    """What is read of the set in `against=`; `git:REVISION` is the set of `build` in a revision. `shared`: the
    variables that apply to it, too. SpecError if there is no such set, Failed if it has errors."""
    named = variables.get("against", "")
    if not named.startswith(REVISION):
        return _read(variables, read, shared)
    revision = named.removeprefix(REVISION)
    with TemporaryDirectory(prefix="gradmill-") as folder:
        place = write_revision(build.config.specs, revision, folder)
        release = variables.get("against_release") or variables.get("release", "")
        try:
            return _read({**variables, "against": place, "against_release": release}, read, shared)
        except Failed as failed:
            raise Failed(failed.report.replace(f"{folder}/", f"{revision}:"), failed.format) from None
        except SpecError as error:
            problem = error.problem.replace(f"{folder}/", f"{revision}:")
            raise SpecError(problem, error.hint.replace(f"{folder}/", f"{revision}:")) from None


def _read(variables: Mapping[str, str], read: Callable[[Session], T], shared: tuple[str, ...]) -> T:
    config = read_against(variables, *shared)
    sys.stderr.write(config.release_warning)
    with closing(Session.open(config)) as other:
        return read(other)
