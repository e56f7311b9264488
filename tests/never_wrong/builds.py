"""Builds in this process: one that stays, and ones that know nothing; what came of them as plain data."""

from __future__ import annotations

import io
import shutil
import traceback
from contextlib import redirect_stderr
from pathlib import Path
from typing import NamedTuple

from pipeline.build.engine import Build, state_path
from pipeline.build.resident import Resident
from pipeline.build.state import StateDB
from pipeline.build.step import Failed
from pipeline.diagnose import report_problems
from pipeline.front.config import read_config


class Result(NamedTuple):
    """What a build came to: the generated files, or what is wrong with the specs, or how gradmill broke."""

    files: dict[str, bytes]
    refusal: str = ""
    crash: str = ""

    @property
    def accepted(self) -> bool:
        return not self.refusal and not self.crash


class Kept:
    """A build in memory that is kept up to date; `reopen` makes it start from what is on disk, as a process does."""

    def __init__(self, specs: Path, folder: Path) -> None:
        self.generated = folder / "generated"
        self._variables = {"specs": str(specs), "generated": str(self.generated), "cache": str(folder / "cache")}
        self.reopen()

    def reopen(self) -> None:
        self._config = read_config(self._variables)
        self._build = Build(self._config, StateDB(state_path(self._config)))
        self._resident = Resident(self._build)

    def update(self) -> Result:
        """Brings the build up to date."""
        with redirect_stderr(io.StringIO()):
            try:
                self._resident.update()
                self._resident.save()
            except Failed as failed:
                return Result(self.files(), refusal=self._report(failed))
            except Exception:
                return Result(self.files(), crash=traceback.format_exc())
        return Result({**self.files(), "manifest.json": (Path(self._config.folder) / "manifest.json").read_bytes()})

    def _report(self, failed: Failed) -> str:
        return report_problems(self._build, failed)

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.generated.glob("*"))}


def clean_build(specs: Path, folder: Path) -> Result:
    """A build of `specs` that knows nothing of earlier ones. `folder` is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        return Kept(specs, folder).update()
    except Exception:
        return Result({}, crash=traceback.format_exc())


def differing(one: Result, other: Result) -> list[str]:
    """The names of the files that differ."""
    return sorted(n for n in {*one.files, *other.files} if one.files.get(n) != other.files.get(n))
