"""Typing errors, over all kinds of files: each is reported at its place, and writes nothing.

The edits are in `tests/bad/typing_errors.txt`, each with its report. A sample by default, all of them with `-m slow`.
To rewrite the reports, and read them in the diff:

    UPDATE_GOLDEN=1 pytest tests/problems/test_typing_errors.py
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from forked import Run, gradmill
from project import ROOT, files_in

GOLDEN = ROOT / "tests" / "bad" / "typing_errors.txt"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))
EVERY = 8  # of so many, one is in the sample

GRAPH = """import torch
from torch import Tensor


def f(x: Tensor, w: Tensor) -> Tensor:
    a = x * w
    b = torch.sin(a)
    return b
"""

MODEL = """{"graph_module": {"graph": {
  "inputs": [{"as_tensor": {"name": "x"}}],
  "outputs": [{"as_tensor": {"name": "mul"}}],
  "nodes": [{"target": "torch.ops.aten.mul.Tensor", "inputs": [
    {"name": "self", "arg": {"as_tensor": {"name": "x"}}}, {"name": "other", "arg": {"as_int": 3}}],
    "outputs": [{"as_tensor": {"name": "mul"}}], "metadata": {}}],
  "tensor_values": {"x": {"dtype": 7, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}], "requires_grad": false,
    "device": {"type": "cpu"}}}},
  "signature": {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
    "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "mul"}}}}]}},
  "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"]}
"""

_TEXT = r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_EDIT = re.compile(rf"(\w+) (\S*): {_TEXT} -> {_TEXT}\n    (.*)\n")
_REPORTED = re.compile(r"^(?:ERROR: )?\S.*", re.MULTILINE)
_PROBLEM = re.compile(r"^\S+?: (?:error|warning): .*", re.MULTILINE)


class TypingError(NamedTuple):
    """One edit: what stands once in a file, and what is written in its place. Of settings: words of the command line;
    of an archive: what happened to it."""

    kind: str
    file: str
    old: str
    new: str
    expected: str  # the exit status and the first problem, or "silent: " and why nothing is reported

    @property
    def name(self) -> str:
        return f"{self.kind} {self.file}: {self.old!r} -> {self.new!r}"


def typing_errors() -> list[TypingError]:
    """All of them, in the order of the file."""
    rows = _EDIT.findall(GOLDEN.read_text())
    return [TypingError(kind, file, *map(ast.literal_eval, texts), report) for kind, file, *texts, report in rows]


class Bench:
    """A set of each kind, built once, in which one file at a time is edited."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tests = ROOT / "tests"
        shutil.copytree(tests / "bad" / "base", folder / "set")
        shutil.copytree(tests / "bad" / "base", folder / "base")
        shutil.copytree(tests / "vendors" / "set", folder / "described")
        (folder / "f.py").write_text(GRAPH)
        (folder / "exported").mkdir()
        (folder / "exported" / "model.json").write_text(MODEL)
        archive(folder / "m.pt2", {"m/models/model.json": MODEL.encode()})
        self.words = {
            "set": ["specs=set"],
            "described": ["specs=described", "cache=described_cache", "generated=described_files"],
            "graph": ["specs=core", "graphs=f.py", "families=graphs", "cache=graph_cache", "generated=graph_files"],
            "exported": ["specs=core", "graphs=m.pt2", "families=graphs", "cache=model_cache", "generated=model_files"],
        }
        self.words["archive"] = self.words["exported"]
        for kind in self.words:
            assert self.run(kind).status == 0, self.run(kind).stderr
        self.outputs = self.files()

    def run(self, kind: str, words: str = "") -> Run:
        return gradmill(self.words.get(kind) or words.split(), self.folder)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """All that was generated, with the times at which it was written."""
        result = {}
        for name in ("generated/set", "described_files", "graph_files", "model_files"):
            for file, data in files_in(self.folder / name).items():
                result[f"{name}/{file}"] = data, (self.folder / name / file).stat().st_mtime_ns
        return result

    def path(self, error: TypingError) -> Path:
        return self.folder / ("" if error.kind == "graph" else error.kind) / error.file

    def report(self, error: TypingError) -> str:
        """The report of an error: the exit status, and the first problem. An error writes nothing."""
        text = self.path(error).read_text() if error.file else ""
        if error.file:
            assert text.count(error.old) == 1, f"{error.file} has {text.count(error.old)} of: {error.old}"
            self.path(error).write_text(text.replace(error.old, error.new))
        model = self.folder / "m.pt2"
        if error.kind == "exported":
            archive(model, {"m/models/model.json": self.path(error).read_bytes()})
        elif error.kind == "archive":
            damage(model, error.new)
        before = self.files()
        result = self.run(error.kind, error.new)
        report = result.stderr or result.stdout
        assert "Traceback" not in report, f"{error.name}\n{report}"
        assert not result.status or self.files() == before, f"{error.name}: files were written"
        if error.file:
            self.path(error).write_text(text)
        if error.kind in ("exported", "archive"):
            remove(model)
            archive(model, {"m/models/model.json": MODEL.encode()})
        problem = _PROBLEM.search(report) or _REPORTED.search(result.stderr)
        if not problem and not result.status and error.expected.startswith("silent: "):
            return error.expected
        return f"{result.status}: {problem[0] if problem else 'nothing'}".replace(str(self.folder), "FOLDER")


def archive(path: Path, members: dict[str, bytes]) -> None:
    """Writes a zip file."""
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data)


def with_field(data: bytes, at: int, value: int) -> bytes:
    """A zip file of one member with another byte in its header, and in its directory, which has two bytes more."""
    places = (at, data.index(b"PK\x01\x02") + at + 2)
    return bytes(value if i in places else byte for i, byte in enumerate(data))


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def damage(path: Path, what: str) -> None:
    """Does to the file of an exported model what an error of the kind `archive` says."""
    data, model, name = path.read_bytes(), MODEL.encode(), "m/models/model.json"
    at = data.index(b'"nodes"')
    members = {
        "no model": {"m/archive_format": b"pt2"},
        "two models": {name: model, "m/models/other.json": model},
        "the model in another folder": {"m/model.json": model},
        "the model cut short": {name: model[: len(model) // 2]},
        "an empty model": {name: b""},
        "a model that is not UTF-8": {name: model.replace(b"mul", b"m\xfcl")},
        "a model of text": {name: b"graph(): return x"},
    }
    texts = {
        "cut short": data[: len(data) // 2],
        "a byte of the model flipped": data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
        "without its directory": data[: data.index(b"PK\x01\x02")],
        "empty": b"",
        "no zip": model,
        "a pickle": b"\x80\x02}q\x00.",
        "encrypted": with_field(data, 6, 1),
        "compressed in another way": with_field(data, 8, 99),
    }
    remove(path)
    if what in members:
        archive(path, members[what])
    elif what in texts:
        path.write_bytes(texts[what])
    elif what == "a folder":
        path.mkdir()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("errors"))


def check(bench: Bench, chosen: list[TypingError]) -> None:
    message = {error.name: bench.report(error) for error in chosen}
    if UPDATE:
        GOLDEN.write_text("".join(f"{name}\n    {text}\n" for name, text in message.items()))
    else:
        assert message == {error.name: error.expected for error in chosen}
    for kind in bench.words:
        result = bench.run(kind)
        assert (result.status, "error" in result.stderr) == (0, False), result.stderr
    assert {name: data for name, (data, _) in bench.files().items()} == {
        name: data for name, (data, _) in bench.outputs.items()
    }


@pytest.mark.extension("graphs")
def test_a_sample_of_typing_errors_is_reported_and_fixed(bench: Bench) -> None:
    check(bench, typing_errors()[2::EVERY])


@pytest.mark.golden
@pytest.mark.slow(30)
def test_all_typing_errors_are_reported_and_fixed(bench: Bench) -> None:
    check(bench, typing_errors())
