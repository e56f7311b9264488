"""`gradmill` is doit: every command says and does the same under both."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from copies import copy_of
from project import ROOT, Project, Run, finish

COMMANDS = [
    ["list", "--all", "--status"],
    ["list", "emit"],
    ["info", "shard:Functions.h"],
    ["show", "match", "exp"],
    ["show", "emit", "ExpBackward0"],
    ["explain", "exp"],
    ["explain"],
    ["coverage", "--format=json"],
    ["diff", "against=core", "against_release=2.13.0"],
    ["export", "ninja"],
    ["schema", "manifest"],
    ["gc"],
    ["run"],
    ["run", "-n", "2", "emit:ExpBackward0"],
    ["--always", "shard:Functions.h"],
    ["forget", "shard:Functions.h"],
    ["ignore", "manifest"],
    ["reset-dep"],
    ["clean", "--dry-run"],
    ["exlpain"],
    ["shard:Functionz.h"],
    ["strict=2"],
]


def started(program: str, project: Project, words: list[str]) -> Run:
    """What a program says in a folder that has a dodo.py."""
    command = [str(Path(sys.executable).with_name(program)), *words, *project.words]
    return finish(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))


def answer_of(run: Run) -> tuple[int, str, str]:
    """What a run printed, whatever the program's name."""
    out, err = (re.sub(r"\b(doit|gradmill)\b", "doit", text) for text in (run.stdout, run.stderr))
    return run.status, out, err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_the_same_under_gradmill_and_doit(tiny_built: Project, tmp_path: Path, words: list[str]) -> None:
    first, second = (copy_of(tiny_built, tmp_path / name) for name in ("a", "b"))
    status, out, err = answer_of(started("doit", first, words))
    there, here = str(first.folder), str(second.folder)
    assert answer_of(started("gradmill", second, words)) == (status, out.replace(there, here), err.replace(there, here))
    left = [{path.name.partition("-")[0] for path in project.cached()} - {"unchanged"} for project in (first, second)]
    assert left[0] == left[1]
    assert first.files() == second.files()
