"""Builds in this process: one that stays, and ones that know nothing; what came of them as plain data."""

from __future__ import annotations

import shutil
import traceback
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import forked
from manifests import manifest_in
from project import files_in

from gradmill.session.session import Session
from gradmill.session.settings.config import read_config


class Result(NamedTuple):
    """The result of a build: the generated files, or what is wrong with the specs, or how gradmill broke."""

    files: dict[str, bytes]
    refusal: str = ""
    crash: str = ""

    @property
    def accepted(self) -> bool:
        return not self.refusal and not self.crash


class Kept:
    """A build in memory that is kept up to date; `reopen` makes it start from what is on disk, as a process does."""

    def __init__(self, specs: Path, folder: Path, **variables: str) -> None:
        forked.prepare()
        self.generated = folder / "generated"
        places = {"specs": str(specs), "generated": str(self.generated), "cache": str(folder / "cache")}
        self._variables = places | variables
        self._open()

    def reopen(self) -> None:
        self.close()
        self._open()

    def close(self) -> None:
        """Lets go of its files."""
        self._session.close()

    def _open(self) -> None:
        self._session = Session(read_config(self._variables))
        self._opened = False

    def update(self) -> Result:
        """Brings the build up to date; returns the result, with all files."""
        try:
            refusal = self.run()
        except Exception:
            return Result(self.files(), crash=traceback.format_exc())
        if refusal:
            return Result(self.files(), refusal=refusal)
        return Result({**self.files(), "manifest.json": manifest_in(Path(self._session.paths.cache))})

    def run(self) -> str:
        """Brings the build up to date; returns the report of errors."""
        if self._opened:
            self._session.refresh()
        else:
            self._session.begin()
        self._opened = True
        done = self._session.update()
        self._session.save()
        return done.problems().report if done.failed else ""

    def files(self) -> dict[str, bytes]:
        return files_in(self.generated)


def clean_build(specs: Path, folder: Path, **variables: str) -> Result:
    """A build of `specs` that knows nothing of earlier ones. `folder` is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with closing(Kept(specs, folder, **variables)) as kept:
            return kept.update()
    except Exception:
        return Result({}, crash=traceback.format_exc())
