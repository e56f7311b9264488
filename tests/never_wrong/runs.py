"""Whole runs of gradmill in copies of a small process: what they printed, and what they left, as plain data."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import forked
from forked import Run
from manifests import manifest_in
from project import files_in, sources


class Made(NamedTuple):
    """What a run left: a verdict, and the files that follow from it."""

    run: Run
    files: dict[str, bytes]
    manifest: bytes

    @property
    def crashed(self) -> bool:
        return "Traceback" in self.run.stderr or self.run.status not in (0, 1, 2, 3)


class Place:
    """A cache and a folder of generated files."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.generated = folder / "generated"

    def words(self, variables: Mapping[str, object]) -> list[str]:
        result = {**variables, "cache": self.cache, "generated": self.generated}
        return [f"{name}={value}" for name, value in result.items()]

    def run(self, *command: str, **variables: object) -> Made:
        """Runs, or does what a command does, and looks at what is there then."""
        return self.made(forked.gradmill([*(command or ("run", "-v")), *self.words(variables)]), variables)

    def made(self, run: Run, variables: Mapping[str, object]) -> Made:
        """What a run with these variables left. A refused one leaves the manifest as it was, damaged or not."""
        manifest = b"" if run.status else manifest_in(self.cache / Path(str(variables["specs"])).name)
        return Made(run, self.files(), manifest)

    def files(self) -> dict[str, bytes]:
        """The generated files; depfiles name folders, and so are not compared."""
        return sources(files_in(self.generated))

    def remove(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)
        shutil.rmtree(self.generated, ignore_errors=True)


def difference(build: Made, clean: Made, before: Mapping[str, bytes]) -> str:
    """In what a run differs from a clean one, "" where in nothing. `before` are the files that it began with."""
    if build.crashed or clean.crashed:
        return f"gradmill broke: {(build if build.crashed else clean).run.stderr[-1500:]}"
    if build.run.status != clean.run.status:
        return f"status {build.run.status}, clean {clean.run.status}: {_reports(build, clean)}"
    if build.run.stderr != clean.run.stderr:
        return f"another report: {_reports(build, clean)}"
    if clean.run.status:
        written = _unequal(build.files, before)
        return f"a refusal wrote files: {written}" if written else "a refused set left files" if clean.files else ""
    unequal = _unequal(build.files, clean.files)
    if unequal:
        return f"files differ: {unequal}{_line(build.files, clean.files)}"
    return "" if build.manifest == clean.manifest else "the manifest differs"


def half_written(files: Mapping[str, bytes], whole: Iterable[Mapping[str, bytes]]) -> str:
    """The files that are none of those that some runs made, "" for none."""
    known = list(whole)
    halves = [name for name, data in files.items() if data not in [each.get(name) for each in known]]
    return f"half-written: {', '.join(halves)}" if halves else ""


def _reports(build: Made, clean: Made) -> str:
    return f"\n{build.run.stderr[:800]}\nclean:\n{clean.run.stderr[:800]}"


def _unequal(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> str:
    return ", ".join(sorted(name for name in {*one, *other} if one.get(name) != other.get(name)))


def _line(files: Mapping[str, bytes], clean: Mapping[str, bytes]) -> str:
    """The first lines in which a file differs."""
    for name in sorted(files.keys() & clean.keys()):
        lines = zip(files[name].splitlines(), clean[name].splitlines())
        for number, (one, other) in enumerate(lines, 1):
            if one != other:
                return f"\n  {name}:{number}: {one.decode()[:200]}\n  clean: {other.decode()[:200]}"
    return ""
