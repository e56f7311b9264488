"""Mistakes that hands make, over all kinds of files: each is reported at its place, and writes nothing.

The edits stand in `tests/bad/slips.py`, what is said of each in `tests/bad/slips.txt`. A sample by default, all of them
with `-m slow`. To write the messages anew, and read them in the diff:

    UPDATE_GOLDEN=1 pytest -m slow tests/test_slips.py
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from bad.slips import Slip, silent, slips
from forked import Ended, gradmill
from project import ROOT, files_in

GOLDEN = ROOT / "tests" / "bad" / "slips.txt"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))
EVERY = 5  # of so many, one is in the sample

GRAPH = """import torch
from torch import Tensor


def f(x: Tensor, w: Tensor) -> Tensor:
    a = x * w
    b = torch.sin(a)
    return b
"""

_REPORTED = re.compile(r"^(?:ERROR: )?\S.*", re.MULTILINE)
_PROBLEM = re.compile(r"^\S+?: (?:error|warning): .*", re.MULTILINE)


class Bench:
    """A set of each kind, built once, in which one file at a time is edited."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tests = ROOT / "tests"
        shutil.copytree(tests / "bad" / "base", folder / "set")
        shutil.copytree(tests / "bad" / "base", folder / "base")
        shutil.copytree(tests / "vendors" / "set", folder / "described")
        (folder / "f.py").write_text(GRAPH)
        self.words = {
            "set": ["specs=set"],
            "described": ["specs=described", "cache=described_cache", "generated=described_files"],
            "graph": ["graphs=f.py", "families=graphs", "cache=graph_cache", "generated=graph_files"],
        }
        for kind in self.words:
            assert self.run(kind).status == 0, self.run(kind).stderr
        self.outputs = self.files()

    def run(self, kind: str, words: str = "") -> Ended:
        return gradmill(self.words.get(kind) or words.split(), self.folder)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """All that was generated, with the times at which it was written."""
        found = {}
        for name in ("generated/set", "described_files", "graph_files"):
            for file, data in files_in(self.folder / name).items():
                found[f"{name}/{file}"] = data, (self.folder / name / file).stat().st_mtime_ns
        return found

    def path(self, slip: Slip) -> Path:
        return self.folder / ("" if slip.kind == "graph" else slip.kind) / slip.file

    def said(self, slip: Slip) -> str:
        """What is said of a slip: the exit status, and the first problem. An error writes nothing."""
        text = self.path(slip).read_text() if slip.file else ""
        if slip.file:
            assert text.count(slip.old) == 1, f"{slip.file} has {text.count(slip.old)} of: {slip.old}"
            self.path(slip).write_text(text.replace(slip.old, slip.new))
        before = self.files()
        found = self.run(slip.kind, slip.new)
        report = found.stderr or found.stdout
        assert "Traceback" not in report, f"{slip.name}\n{report}"
        assert not found.status or self.files() == before, f"{slip.name}: files were written"
        if slip.file:
            self.path(slip).write_text(text)
        problem = _PROBLEM.search(report) or _REPORTED.search(found.stderr)
        assert problem or silent(slip), f"{slip.name}: nothing is said"
        return f"{found.status}: {problem[0] if problem else silent(slip)}".replace(str(self.folder), "FOLDER")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("slips"))


def check(bench: Bench, chosen: list[Slip]) -> None:
    said = {slip.name: bench.said(slip) for slip in chosen}
    if UPDATE:
        rest = dict(golden())
        texts = {slip.name: said.get(slip.name, rest.get(slip.name, "")) for slip in slips()}
        GOLDEN.write_text("".join(f"{name}\n    {text}\n" for name, text in texts.items()))
    assert said == {slip.name: golden()[slip.name] for slip in chosen}
    for kind in bench.words:
        found = bench.run(kind)
        assert (found.status, "error" in found.stderr) == (0, False), found.stderr
    assert {name: data for name, (data, _) in bench.files().items()} == {
        name: data for name, (data, _) in bench.outputs.items()
    }


def golden() -> dict[str, str]:
    lines = GOLDEN.read_text().split("\n") if GOLDEN.exists() else []
    return {name: text.strip() for name, text in zip(lines[::2], lines[1::2])}


def test_a_sample_of_slips_is_reported_and_mended(bench: Bench) -> None:
    check(bench, slips()[2::EVERY])


@pytest.mark.slow
def test_all_slips_are_reported_and_mended(bench: Bench) -> None:
    check(bench, slips())
