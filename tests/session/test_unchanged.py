"""A run with nothing to do is answered from its record, and never when anything has changed."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from project import RECORD, ROOT, Project, Run, in_cache

from gradmill.families.rows import TEMPLATES
from gradmill.io.files import TICK
from gradmill.session.answer import answer_to, command_of
from gradmill.session.output.folder_record import FolderRecord
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config


class Noted:
    """A project that `gradmill` has built, seen from its own folder."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.words = [f"specs={project.specs}", "generated=generated", "cache=cache"]

    def run(self) -> Run:
        """Builds, some time after the last change: what was saved just now may be saved again unnoticed."""
        time.sleep(1.2 * TICK / 1e9)
        return self.project.gradmill(generated="generated", cache="cache")

    def answer(self) -> tuple[bytes, bytes] | None:
        return answer_to(self.words)

    @property
    def record(self) -> Path:
        """The record of the last run."""
        folder = self.project.folder / "cache" / self.project.specs.name
        return max(folder.glob("last-*"), key=lambda path: path.stat().st_mtime_ns)


@pytest.fixture
def noted(tiny: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Noted:
    result = Noted(tiny)
    monkeypatch.chdir(tiny.folder)
    # Without the folder of gradmill, to which other tests write: an answer depends on the folders of Python's path.
    others = [path for path in sys.path if path != str(ROOT)]
    monkeypatch.setattr(sys, "path", [*others, str(tmp_path / "packages")])
    (tmp_path / "packages").mkdir()
    assert result.run().status == 0
    assert result.answer() is not None
    return result


def test_the_answer_is_what_a_run_prints(noted: Noted) -> None:
    run = noted.project.gradmill("run", generated="generated", cache="cache")
    assert noted.answer() == (run.stdout.encode(), run.stderr.encode())
    assert noted.run() == run


def test_warnings_are_repeated(noted: Noted) -> None:
    noted.project.set_formula("exp", "self", "grad * reslt")
    first = noted.run()
    assert "reslt" in first.stderr
    assert noted.answer() is not None
    assert noted.run().stderr == first.stderr
    noted.project.gradmill(generated="generated", cache="cache", strict=1).failed("reslt", status=1)


def test_an_error_leaves_no_answer(noted: Noted) -> None:
    noted.project.set_formula("exp", "self", "grad\n  slef: grad")
    for _ in range(2):
        noted.run().failed("slef", status=1)
        assert noted.answer() is None


def test_a_run_that_could_not_keep_all_leaves_no_answer(noted: Noted) -> None:
    """As if a file was saved in the same moment, or the disk was full."""
    (noted.project.generated / "Functions_1.cpp").mkdir()  # a file of an earlier layout, which cannot be deleted
    record = FolderRecord(str(noted.project.generated))
    record.expect({f"{record.folder}/Functions_1.cpp": b"d" * 16})
    assert "Functions_1.cpp: there is a folder" in noted.run().stderr
    assert noted.answer() is None
    (noted.project.generated / "Functions_1.cpp").rmdir()
    noted.run().clean()
    assert noted.answer() is not None


def test_another_command_line_with_nothing_to_do_keeps_the_answer(noted: Noted) -> None:
    before = noted.record.read_bytes(), noted.answer()
    noted.project.gradmill("-q", generated="generated", cache="cache").clean()
    assert (noted.record.read_bytes(), noted.answer()) == before


def test_a_record_of_another_run_keeps_its_answer(noted: Noted) -> None:
    session = Session(read_config(dict(word.split("=", 1) for word in noted.words)))
    session._load()
    noted.project.set_formula("exp", "self", "grad * result.conj() * 1")
    assert noted.run().status == 0
    session.keep_answer(command_of(noted.words), b"of the run before", b"", {})
    assert noted.answer() not in (None, (b"of the run before", b""))


@pytest.mark.parametrize("word", ["specs", "emit", "-v", "--quiet", "list", "shard:Functions.h"])
def test_who_asks_for_more_or_less_gets_no_answer(noted: Noted, word: str) -> None:
    assert answer_to([word, *noted.words]) is None


def test_a_stamp_is_written_however_often(noted: Noted) -> None:
    for _ in range(2):
        noted.project.gradmill(generated="generated", cache="cache", stamp="made")
        assert (noted.project.folder / "made").exists()
        (noted.project.folder / "made").unlink()


# ---- changes

Change = Callable[[Noted, Random, pytest.MonkeyPatch], object]


def _inputs(noted: Noted) -> list[Path]:
    names = (
        "native_functions.yaml",
        "tags.yaml",
        "derivatives.yaml",
        *(f"templates/{name}" for name in TEMPLATES.main),
    )
    return [path for path in map(noted.project.path, names) if path.is_file()]


def _outputs(noted: Noted) -> list[Path]:
    folder = noted.project.folder / "generated"
    return sorted(path for path in folder.rglob("*") if path.is_file() and RECORD not in path.parts)


def _edited(path: Path, chance: Random) -> None:
    with path.open("ab") as file:
        file.write(b"\n" * chance.randrange(1, 4))


def input_edited_size_and_time_kept(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    path = noted.project.path("derivatives.yaml")
    before, data = path.stat(), path.read_bytes()
    other = {b"grad *": b"grad* ", b"grad* ": b"grad *"}
    at = chance.choice([i for i in range(len(data)) if data[i : i + 6] in other])
    path.write_bytes(data[:at] + other[data[at : at + 6]] + data[at + 6 :])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def input_replaced_by_a_link(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    path = chance.choice(_inputs(noted))
    copy = noted.project.folder / f"copy-{chance.random()}"
    shutil.copy2(path, copy)
    path.unlink()
    path.symlink_to(copy)


def input_moved_away_and_back(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    path = chance.choice(_inputs(noted))
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def another_release(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    path = noted.project.specs / "RELEASE"
    path.write_text("2.12.1" if path.read_text() != "2.12.1" else "2.13.0")


def another_layout_of_the_set(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    place = noted.project.specs / "ATen" / "native" / "native_functions.yaml"
    place.parent.mkdir(parents=True)
    place.write_text("")
    assert noted.answer() is None
    shutil.rmtree(place.parent.parent)
    _edited(noted.project.path("tags.yaml"), chance)


def a_template_added(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    path = noted.project.path("templates/ViewFuncs.h")
    if path.exists():
        path.unlink()
    else:
        path.write_text("// ${generated_comment}\n")
        assert noted.answer() is None
        path.unlink()
        _edited(noted.project.path("tags.yaml"), chance)


def output_of_the_same_size(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    path = chance.choice(_outputs(noted))
    before, data = path.stat(), bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1
    path.write_bytes(bytes(data))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def cache_file_deleted(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    folder = noted.record.parent
    chance.choice([noted.record, *(in_cache(folder, name) for name in ("rows", "manifest.json"))]).unlink()


def record_damaged(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    data = bytearray(noted.record.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    noted.record.write_bytes(bytes(data)[: chance.choice([len(data), chance.randrange(len(data)) + 1])])


def other_python(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    name = chance.choice(["version", "executable", "prefix"])
    patch.setattr(sys, name, getattr(sys, name) + " ")


def other_environment(noted: Noted, chance: Random, patch: pytest.MonkeyPatch) -> None:
    patch.setenv(chance.choice(["PYTHONPATH", "PYTHONHASHSEED", "LANG", "LC_ALL", "VIRTUAL_ENV"]), str(chance.random()))


CHANGES: dict[str, Change] = {
    "input_edited": lambda noted, chance, _: _edited(chance.choice(_inputs(noted)), chance),
    "output_touched": lambda noted, chance, _: os.utime(chance.choice(_outputs(noted))),
    "output_deleted": lambda noted, chance, _: chance.choice(_outputs(noted)).unlink(),
    "package_added": lambda noted, chance, _: (
        noted.project.folder / "packages" / f"other-{chance.random()}.dist-info"
    ).mkdir(),
    "other_path": lambda _, chance, patch: patch.setattr(sys, "path", [f"/{chance.random()}", *sys.path]),
}
for change in (
    input_edited_size_and_time_kept, input_replaced_by_a_link, input_moved_away_and_back, another_release,
    another_layout_of_the_set, a_template_added, output_of_the_same_size, cache_file_deleted, record_damaged,
    other_python, other_environment,
):  # fmt: skip
    CHANGES[change.__name__] = change


def _after(noted: Noted, name: str, chance: Random) -> None:
    """Changes something: no answer, and the next run leaves right files, and an answer to the one after it."""
    with pytest.MonkeyPatch.context() as patch:
        CHANGES[name](noted, chance, patch)
        assert noted.answer() is None, name
    noted.run().ok()
    assert noted.project.files() == noted.project.clean_build(), name
    assert noted.answer() is not None, name


@pytest.mark.slow(0.3)
@pytest.mark.parametrize("change", CHANGES)
def test_no_change_goes_unnoticed(noted: Noted, change: str) -> None:
    _after(noted, change, Random(0))


@pytest.mark.campaign
def test_of_500_changes_none_goes_unnoticed(noted: Noted) -> None:
    chance = Random(0)
    for _ in range(500):
        _after(noted, chance.choice([*CHANGES]), chance)
