"""What `verify` leaves in the cache, and what `gc` deletes of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from project import Project

from gradmill.extensions.verify import run
from gradmill.extensions.verify.child.__main__ import compressed
from gradmill.extensions.verify.library import Compiled, Library
from gradmill.extensions.verify.model import Code, Subject, Verdict
from gradmill.extensions.verify.remembered import FILE, SAMPLES, WORK, current, digests, key, load, save
from gradmill.io.decoding import decode_json
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
        key(code, TORCH, "an old text"),
        key("0" * 16, TORCH, "of another gradmill"),
        key(code, "1.0", "of another torch"),
        key(code, TORCH, "the text"),
    ]
    save(folder / FILE, {each: Verdict("ExpBackward0", unchecked=each) for each in keys})
    for version in (TORCH, "1.0"):
        (folder / SAMPLES / f"{SAMPLES}-{version}").mkdir(parents=True)
        (folder / SAMPLES / f"{SAMPLES}-{version}" / "aten.exp.pt").write_bytes(bytes(1000))
    for process in (os.getpid(), GONE):
        (folder / f"{WORK}{process}-abc").mkdir()
        (folder / f"{WORK}{process}-abc" / "formulas.so").write_bytes(bytes(2_000_000))
    return built


def test_gc_keeps_what_the_next_verification_reads(filled: Project) -> None:
    folder = filled.rows.parent / VERIFIED
    *_, kept = load(folder / FILE)
    run = filled.run("gc").clean()
    assert list(load(folder / FILE)) == [kept]
    assert [path.name for path in (folder / SAMPLES).iterdir()] == [f"{SAMPLES}-{TORCH}"]
    assert [path.name for path in folder.glob(f"{WORK}*")] == [f"{WORK}{os.getpid()}-abc"]
    assert run.stdout.startswith("removed 3 stores and verdicts (2.0 MB), kept 2 (")
    assert filled.run("gc").stdout.startswith("removed 0 stores and verdicts (0.0 MB)")


def test_the_samples_of_a_verdict_are_kept_compressed(tmp_path: Path) -> None:
    tried = [{"input": f"self=tensor([{i}, 0.25])", "source": "made"} for i in range(300)]
    verdict = decode_json(json.dumps(compressed({"name": "N", "tried": tried})), Verdict)
    save(tmp_path / FILE, {"key": verdict})
    assert (tmp_path / FILE).stat().st_size < len(json.dumps(tried)) / 4
    kept = load(tmp_path / FILE)["key"]
    assert [each.input for each in kept.samples_tried] == [each["input"] for each in tried]


def test_a_verdict_is_forgotten_with_the_library_that_it_is_of(tmp_path: Path) -> None:
    library, other = tmp_path / "libtoy.so", tmp_path / "libother.so"
    library.write_bytes(b"one kernel")
    other.write_bytes(b"other kernels")
    known = {
        "of one": Verdict("ExpBackward0", files=digests([str(library)])),
        "of both": Verdict("ExpBackward0", files=digests([str(library), str(other)])),
        "of none": Verdict("ExpBackward0"),
    }
    assert current(known) == known
    other.write_bytes(b"other kernels, mended")
    assert list(current(known)) == ["of one", "of none"]
    library.unlink()
    assert list(current(known)) == ["of none"]


def test_gc_follows_no_link_out_of_the_cache(filled: Project) -> None:
    folder = filled.rows.parent / VERIFIED
    folder.rename(filled.folder / "elsewhere")
    folder.symlink_to(filled.folder / "elsewhere")
    assert filled.run("gc").status == 0
    assert len(load(filled.folder / "elsewhere" / FILE)) == 4


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
    monkeypatch.setattr(run, "SECONDS", -1.0)
    names = ["FirstBackward0", "LastBackward0"]
    codes = [Code(Subject(each, "", "", "", (), (), (), (), (), (), "", ()), "", frozenset(), each) for each in names]
    monkeypatch.setattr(Library, "build", lambda self, codes: Compiled(tmp_path / "formulas.so", {}))
    saved: list[set[str]] = []

    def look(path: Path, verdicts: Mapping[str, Verdict]) -> None:
        save(path, verdicts)
        saved.append({each.name for each in load(path).values()})
        go_on.touch()

    monkeypatch.setattr(run.remembered, "save", look)
    run.verify(codes, run.Settings(tmp_path, "code"))
    assert saved == [set(names[:1]), set(names)]
