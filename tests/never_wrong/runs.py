"""Whole runs of gradmill in this process: what they printed, and what they left, as plain data."""

from __future__ import annotations

import gc
import io
import json
import shutil
import traceback
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import forked
from forked import tasks_in
from manifests import manifest_in
from project import files_in

from gradmill.cli.commands.request import main


class Outcome(NamedTuple):
    """What a run came to."""

    status: int
    report: str  # on standard error
    ran: list[str]

    @property
    def crashed(self) -> bool:
        return "Traceback" in self.report or self.status not in (0, 1, 2, 3)


class Made(NamedTuple):
    """What a run left: a verdict, and the files that follow from it."""

    outcome: Outcome
    files: dict[str, bytes]
    manifest: bytes


def gradmill(*words: str) -> Outcome:
    """`gradmill run` with these words. Nothing is remembered from one call to the next."""
    forked.prepare()
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        gc.disable()  # as the command does
        try:
            status = main(["run", "-v", *words])
        except Exception:
            status = -1
            err.write(traceback.format_exc())
        finally:
            gc.enable()
        out.seek(0)
    return Outcome(status, err.getvalue(), tasks_in(out.read()))


class Place:
    """A cache and a folder of generated files."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.generated = folder / "generated"

    def words(self, variables: Mapping[str, object]) -> list[str]:
        result = {**variables, "cache": self.cache, "generated": self.generated}
        return [f"{name}={value}" for name, value in result.items()]

    def run(self, *arguments: str, **variables: object) -> Made:
        """Runs, and looks at what is there then."""
        outcome = gradmill(*arguments, *self.words(variables))
        return Made(outcome, self.files(), self.manifest(Path(str(variables["specs"])).name))

    def files(self) -> dict[str, bytes]:
        """The generated files; depfiles name folders, and so are not compared."""
        return {name: data for name, data in files_in(self.generated).items() if not name.endswith(".d")}

    def manifest(self, name: str) -> bytes:
        return manifest_in(self.cache / name)

    def remove(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)
        shutil.rmtree(self.generated, ignore_errors=True)


def clean_run(folder: Path, **variables: object) -> Made:
    """A run that knows nothing of earlier ones."""
    place = Place(folder)
    place.remove()
    return place.run(**variables)


def difference(build: Made, clean: Made, before: Mapping[str, bytes]) -> str:
    """In what a run differs from a clean one, "" where in nothing. `before` are the files that it began with."""
    if build.outcome.crashed or clean.outcome.crashed:
        return f"gradmill broke: {(build.outcome if build.outcome.crashed else clean.outcome).report[-1500:]}"
    if build.outcome.status != clean.outcome.status:
        return f"status {build.outcome.status}, clean {clean.outcome.status}: {_reports(build, clean)}"
    if build.outcome.report != clean.outcome.report:
        return f"another report: {_reports(build, clean)}"
    if clean.outcome.status:
        written = _unequal(build.files, before)
        return f"a refusal wrote files: {written}" if written else "a refused set left files" if clean.files else ""
    unequal = _unequal(build.files, clean.files)
    if unequal:
        return f"files differ: {unequal}{_line(build.files, clean.files)}"
    return "" if build.manifest == clean.manifest else f"the manifest differs: {_where(build.manifest, clean.manifest)}"


def _reports(build: Made, clean: Made) -> str:
    return f"\n{build.outcome.report[:800]}\nclean:\n{clean.outcome.report[:800]}"


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


def _where(data: bytes, clean: bytes) -> str:
    try:
        one, other = json.loads(data), json.loads(clean)
    except ValueError:
        return "it is no JSON"
    return ", ".join(key for key in other if one.get(key) != other[key])
