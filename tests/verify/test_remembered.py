"""What `verify` leaves in the cache, and what `gc` deletes of it."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from project import Project

from gradmill.extensions.verify import run
from gradmill.extensions.verify.library import Compiled, Library
from gradmill.extensions.verify.model import Code, Subject, Verdict
from gradmill.extensions.verify.remembered import SAMPLES, WORK, digests, key, known, remember
from gradmill.session.paths import VERIFIED, code_of, stores_in

TORCH = metadata.version("torch")
GONE = 2**22 + 1  # the id of no process


@pytest.fixture
def filled(built: Project) -> Project:
    """A built set with verdicts, samples and libraries of several versions."""
    assert built.run("gc").status == 0
    folder = built.rows.parent / VERIFIED
    (code,) = map(code_of, stores_in(str(built.rows.parent)))
    keys = [
        key(code, TORCH, "ExpBackward0", "an old text"),
        key("0" * 16, TORCH, "ExpBackward0", "of another gradmill"),
        key(code, "1.0", "ExpBackward0", "of another torch"),
        key(code, TORCH, "ExpBackward0", "the text"),
    ]
    for each in keys:
        remember(folder, each, Verdict("ExpBackward0", unchecked=each))
    for version in (TORCH, "1.0"):
        (folder / SAMPLES / f"{SAMPLES}-{version}").mkdir(parents=True)
        (folder / SAMPLES / f"{SAMPLES}-{version}" / "aten.exp.pt").write_bytes(bytes(1000))
    for process in (os.getpid(), GONE):
        (folder / f"{WORK}{process}-abc").mkdir()
        (folder / f"{WORK}{process}-abc" / "formulas.so").write_bytes(bytes(2_000_000))
    return built


def verdicts(folder: Path) -> list[Path]:
    return list(folder.glob("verdict-*"))


def test_gc_keeps_what_the_next_verification_reads(filled: Project) -> None:
    folder = filled.rows.parent / VERIFIED
    kept = max(verdicts(folder), key=lambda path: path.stat().st_mtime_ns)
    run = filled.run("gc").clean()
    assert verdicts(folder) == [kept]
    assert [path.name for path in (folder / SAMPLES).iterdir()] == [f"{SAMPLES}-{TORCH}"]
    assert [path.name for path in folder.glob(f"{WORK}*")] == [f"{WORK}{os.getpid()}-abc"]
    assert run.stdout.startswith("removed 3 stores and verdicts (2.0 MB), kept 2 (")
    assert filled.run("gc").stdout.startswith("removed 0 stores and verdicts (0.0 MB)")


def test_a_verdict_is_forgotten_with_the_library_that_it_is_of(tmp_path: Path) -> None:
    library, other = tmp_path / "libtoy.so", tmp_path / "libother.so"
    library.write_bytes(b"one kernel")
    other.write_bytes(b"other kernels")
    files = {"of one": [library], "of both": [library, other], "of none": []}
    for name, paths in files.items():
        remember(tmp_path, name, Verdict("ExpBackward0", files=digests(map(str, paths))))
    assert list(known(tmp_path, files)) == list(files)
    other.write_bytes(b"other kernels, mended")
    assert list(known(tmp_path, files)) == ["of one", "of none"]
    library.unlink()
    assert list(known(tmp_path, files)) == ["of none"]


def test_gc_follows_no_link_out_of_the_cache(filled: Project) -> None:
    folder = filled.rows.parent / VERIFIED
    folder.rename(filled.folder / "elsewhere")
    folder.symlink_to(filled.folder / "elsewhere")
    assert filled.run("gc").status == 0
    assert len(verdicts(filled.folder / "elsewhere")) == 4


CHILD = """
import os, sys, time
sys.stdin.read()
print("[]", flush=True)
print('{"name": "FirstBackward0"}', flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
print('{"name": "LastBackward0"}', flush=True)
"""


def test_verdicts_are_saved_while_others_are_not_known_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = tmp_path / "go on"
    words, streams = [sys.executable, "-c", CHILD, str(go_on)], dict.fromkeys(("stdin", "stdout", "stderr"), PIPE)
    monkeypatch.setattr("gradmill.extensions.verify.process._start", lambda: Popen(words, text=True, **streams))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    names = ["FirstBackward0", "LastBackward0"]
    codes = [Code(Subject(each, "", "", "", (), (), (), (), (), (), "", ()), "", each) for each in names]
    monkeypatch.setattr(Library, "build", lambda self, codes: Compiled(tmp_path / "formulas.so", {}))
    saved = list[str]()

    def look(folder: Path, key: str, verdict: Verdict) -> None:
        saved.append(verdict.name)
        go_on.touch()

    monkeypatch.setattr(run.remembered, "remember", look)
    run.verify(codes, run.Settings(tmp_path, "code"))
    assert saved == names
