"""What tests of runs with `remote=` share: projects, what runs report, what servers may see."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import zstandard
from project import ROOT, Project, Run

from pipeline.store.archive import DESCRIPTION

# How the one line ends that a run reports:
WRONG = "it is not used"  # the server has something wrong, and this run replaces it
FAILED = "this run does without it"
KEPT = "the results are not uploaded"

OTHERS = "it was made from other inputs, or by another gradmill, Python or library"  # of an archive


def unbuilt(project: Project, folder: Path) -> Project:
    """A copy of a set in `folder`, without cache and generated files."""
    folder.mkdir()
    shutil.copytree(project.specs, folder / "set")
    return Project.at(folder)


def forget(project: Project) -> None:
    """Deletes all that a set's runs have left."""
    for folder in (project.cache, project.generated):
        shutil.rmtree(folder, ignore_errors=True)


def assert_built(project: Project, run: Run, warning: str, name: str) -> None:
    """A run did all by itself, and reported one line, which ends as `warning` says."""
    assert run.status == 0, run.stderr
    assert "Traceback" not in run.stderr + run.stdout
    lines = run.stderr.splitlines()
    assert len(lines) == bool(warning), run.stderr
    for line in lines:
        assert line.isprintable()
        assert re.fullmatch(f"remote={re.escape(name)}: .*{warning}", line), line
    assert run.units != []
    assert project.files() == project.clean_build()
    assert list(project.cache.rglob("transfer*")) == []
    assert project.run().ran == []


def assert_fetched(run: Run) -> None:
    """A run computed no unit, and reported nothing."""
    assert (run.status, run.stderr, run.units) == (0, "", [])


def members_of(archive: bytes) -> dict[str, bytes]:
    """The members of an archive, as the description counts them: uncompressed."""
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        stored = {name: members.read(name) for name in members.namelist()}
    unpack = zstandard.ZstdDecompressor().decompressobj
    return {name: data if name == DESCRIPTION else unpack().decompress(data) for name, data in stored.items()}


def assert_names_no_machine(contents: Iterable[bytes], project: Project) -> None:
    """Neither what a server has seen nor what is in archives has a path, a user or a host."""
    everything = b"\n".join(_unpacked(contents))
    names = [str(project.folder), str(ROOT), sys.prefix, f"{os.path.expanduser('~')}/", os.uname().nodename]
    names += [os.environ.get("USER", ""), str(project.folder.parents[-2])]
    assert [name for name in names if len(name) > 4 and name.encode() in everything] == []


def _unpacked(contents: Iterable[bytes]) -> Iterator[bytes]:
    for data in contents:
        yield data
        if data.startswith(b"PK"):
            yield from members_of(data).values()
