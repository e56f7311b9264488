"""Contract: anything in the cache missing, truncated, altered, or of another age than the rest is noticed, and made
again: no state of the cache may need a person.

Every file of the cache is damaged in every way, alone and while the specs change. The next run is right, the one after
it executes nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random

import pytest
from copies import copy_of
from msgspec import Raw
from never_wrong.damage import KINDS
from project import DAMAGES, Project, assert_clean, files_in, in_cache, is_plain

from gradmill.query.database import Database
from gradmill.session.build import Build
from gradmill.session.output.folder_record import FolderRecord
from gradmill.stages.infos import infos_of
from gradmill.store import sqlite

FIRST = "grad * result.conj()"
SECOND = "grad * result.conj() * 2"

# The files of a set's folder in the cache.
_IN_FOLDER = "rows rows-wal rows-shm last lock set manifest.json manifest.json.d units.json .gitignore"
FILES = _IN_FOLDER.split()


@pytest.fixture
def twice(tiny_built: Project, tmp_path: Path) -> Project:
    """A project built twice. The cache as it was after the first time is in the folder `older`."""
    return build_twice(tiny_built, tmp_path)


def build_twice(built: Project, folder: Path) -> Project:
    project = copy_of(built, folder)
    shutil.copytree(project.cache, folder / "older")
    project.set_formula("exp", "self", SECOND)
    project.build()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Build, "close", lambda _: None)  # as of a process that ends before it closes the store
        project.run_patched().ok()
    return project


def cached(project: Project, name: str, cache: str = "cache") -> Path:
    """A file of the cache, or of the older one."""
    folder = project.folder / cache / project.specs.name
    return next(folder.glob("last-*")) if name == "last" else in_cache(folder, name).resolve()


# ---- damage

# To a file, of which an older age is there.
DAMAGE = {name: lambda path, older, kind=kind: kind(path, older, Random(0)) for name, kind in KINDS.items()}

# The specs when the next run starts: as they were, as they were before, and new.
FORMULAS = [SECOND, FIRST, "grad * result.conj() * 4"]


def assert_mended(project: Project) -> None:
    """The next run is right, and the one after it executes nothing."""
    run = project.run().ok()
    assert "Traceback" not in run.stderr + run.stdout
    assert_clean(project)
    assert project.run().ok().ran == []


def test_the_table_names_every_file_of_the_cache(twice: Project) -> None:
    assert set(twice.cached()) == {cached(twice, name) for name in FILES}


def _damages() -> Iterator[object]:
    """Every damage to every file, each with one of the formulas."""
    for (at, name), (of, damage) in product(enumerate(FILES), enumerate(DAMAGE)):
        yield name, damage, FORMULAS[(at + of // 2) % len(FORMULAS)]


@pytest.mark.slow(0.4)
@pytest.mark.parametrize(("name", "damage", "formula"), list(_damages()))
def test_a_damaged_file_of_the_cache_is_mended(twice: Project, name: str, damage: str, formula: str) -> None:
    twice.set_formula("exp", "self", formula)
    before = files_in(twice.folder / "older")
    DAMAGE[damage](cached(twice, name), cached(twice, name, "older"))
    assert_mended(twice)
    assert files_in(twice.folder / "older") == before  # to which a link may lead


@pytest.mark.parametrize("name", ["rows", "rows-wal", "manifest.json", "manifest.json.d", "units.json"])
def test_a_folder_with_foreign_files_where_one_of_the_cache_belongs_stays_and_is_named(
    twice: Project, name: str
) -> None:
    path = cached(twice, name)
    path.unlink()
    path.mkdir()
    (path / "x").write_text("x")
    twice.set_formula("exp", "self", "7 * grad * result.conj()")  # never seen: there is something to keep
    run = twice.run()
    assert "Traceback" not in run.stderr + run.stdout
    assert str(path) in run.stderr
    assert (path / "x").read_text() == "x"
    assert twice.files() == twice.clean_build()
    shutil.rmtree(path)
    assert_mended(twice)


@pytest.mark.slow(0.4)
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("names", [["rows"], ["rows", "last"], ["last", "manifest.json"], FILES])
def test_files_of_another_age_than_the_rest_are_noticed(twice: Project, names: list[str], formula: str) -> None:
    for name in names:
        DAMAGE["roll_back"](cached(twice, name), cached(twice, name, "older"))
    twice.set_formula("exp", "self", formula)
    assert_mended(twice)


def test_a_set_s_folder_that_is_a_file_is_refused_by_its_name(project: Project) -> None:
    project.cache.mkdir()
    project.rows.parent.write_text("in the way")
    run = project.run()
    assert (run.status != 0, is_plain(run)) == (True, True)
    assert str(project.rows.parent) in run.stderr


# ---- what killed runs leave


RANDOM = "0123456789abcdef"  # in the name of a temporary file


def test_files_that_killed_runs_left_half_written_are_removed_and_those_of_others_stay(built: Project) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = built.generated / f"Functions.cpp.{ended.pid}.{RANDOM}.tmp"
    names = [f"Functions.cpp.{os.getpid()}.{RANDOM}.tmp", f"notes.cpp.{ended.pid}.{RANDOM}.tmp"]
    stays = [built.generated / name for name in names]
    FolderRecord(str(built.generated)).expect({str(built.generated / "Functions.cpp"): bytes(16)})  # before it begins
    for path in (left, *stays):
        path.write_text("half")
    built.set_formula("exp", "self", SECOND)
    built.build()
    assert not left.exists()
    assert all(path.exists() for path in stays)


# ---- damage under a part of a run


@pytest.mark.parametrize("damage", ["lost", "turned"])
def test_an_error_and_a_warning_are_reported_after_a_damage(built: Project, damage: str) -> None:
    wrong = "file is not a database"
    discarded = f"{built.rows}: the store is damaged ({wrong}): it is discarded, and rebuilt\n"
    before = discarded if damage == "turned" else ""  # if it is lost, there is no store
    built.set_formula("exp", "self", "grad * slef")
    warned = built.run()
    DAMAGES[damage](built.rows)
    assert built.run().stderr == before + warned.stderr
    built.set_formula("mul.Tensor", "self", "mul(grd)\n  slef: grad")
    refused = built.run()
    assert refused.status == 1
    DAMAGES[damage](built.rows)
    again = built.run()
    assert (again.status, again.stderr) == (1, before + refused.stderr)


@pytest.mark.parametrize("names", ["last-*", "last-* rows-*[0-9a-f]"])
def test_a_store_that_no_record_notes_costs_no_work(built: Project, names: str) -> None:
    """It is verified, and accepted: a cache that is copied, or whose run was killed before it wrote its record."""
    for name in names.split():
        for path in (built.cache / "set").glob(name):
            data = path.read_bytes()
            path.unlink()
            if name != "last-*":
                path.write_bytes(data)
    built.path("derivatives.yaml").touch()
    assert set(built.run().ran) <= {"manifest"}
    assert built.run().ran == []


@pytest.mark.parametrize("command", [(), ("explain", "ExpBackward0"), ("show", "match", "exp")], ids=str)
@pytest.mark.parametrize("place", ["/proc/cache", "file"])
def test_a_cache_that_cannot_be_made_stops_no_command(project: Project, command: tuple[str, ...], place: str) -> None:
    if place == "file":
        place = str(project.folder / "file")
        Path(place).touch()
    run = project.run(*command, cache=place)
    assert "Traceback" not in run.stderr
    if command:
        assert run.status == 0, run.stderr
    else:  # the manifest cannot be written
        assert is_plain(run), run.stderr
        assert project.files() in ({}, project.clean_build())


def test_files_of_others_with_names_of_stores_displace_none(built: Project) -> None:
    foreign = [built.rows.with_name(f"rows-{number}123456789abcdef") for number in range(3)]
    for path in foreign:
        path.write_bytes(b"mine")
        os.utime(path, (time.time() + 60,) * 2)
    assert built.run("gc").status == 0
    assert all(path.read_bytes() == b"mine" for path in foreign)
    assert built.run().ran == []


def test_gc_deletes_nothing_that_is_not_gradmills(built: Project) -> None:
    outside = built.folder / "outside"
    outside.mkdir()
    (outside / "rows").write_text("not in the cache at all")
    foreign = {
        built.cache / "notes.txt": b"mine",
        built.cache / "objects" / "ab": b"mine",
        built.cache / "set" / "notes.txt": b"mine",
        built.cache / "set" / "rows.bak": b"mine",
        built.cache / "set" / "last-minute": b"mine",
        built.cache / "set" / "rows.old" / built.rows.name: b"mine",
        built.cache / "other" / built.rows.name: b"mine",
        built.cache / "other" / "last-123456789abc": b"mine",
        built.cache / "other" / f"{built.rows.name}.1.{RANDOM}.tmp": b"mine",
        built.cache / ".git" / "config": b"mine",
    }
    for path, data in foreign.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (built.cache / "linked").symlink_to(outside)
    built.run("gc").ok()
    assert {path: path.read_bytes() for path in foreign if path.exists()} == foreign
    assert (outside / "rows").read_text() == "not in the cache at all"
    assert built.run().ran == []


def test_an_error_that_earlier_results_alone_cause_is_reported_as_a_bug_and_the_next_run_is_right(
    tiny: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound, project = infos_of.function, tiny

    def fragile(db: Database, name: str) -> dict[str, Raw]:
        if db.is_warm:
            raise KeyError(name)
        return sound(db, name)

    before = project.files()
    project.set_formula("exp", "self", SECOND)
    monkeypatch.setattr(infos_of, "function", fragile)
    run = project.run_patched()
    kept = Path(f"{project.rows}.failed")
    assert run.status != 0 and "damaged" not in run.stderr
    assert "KeyError: 'exp'\n" in run.stderr and "in fragile" in run.stderr
    assert "IncrementalBug: a bug of gradmill: this fails on the results of earlier runs, and" in run.stderr
    assert f"report this with the old ones, {kept}\n" in run.stderr
    assert (project.files(), project.rows.exists(), kept.exists()) == (before, False, True)
    assert project.run_patched().ok().stderr == ""
    assert_clean(project)
    project.run("gc").ok()
    assert project.rows.exists() and not list(project.rows.parent.glob("*.failed*"))


def test_an_error_that_earlier_results_do_not_cause_is_raised_as_it_is(
    tiny: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound, project = infos_of.function, tiny

    def wrong(db: Database, name: str) -> dict[str, Raw]:
        if name == "exp":
            raise KeyError(name)
        return sound(db, name)

    project.set_formula("exp", "self", SECOND)
    with monkeypatch.context() as patched:
        patched.setattr(infos_of, "function", wrong)
        run = project.run_patched()
    assert run.status != 0 and run.stderr.count("Traceback") == 1
    assert run.stderr.rstrip().endswith("KeyError: 'exp'")
    assert project.rows.exists() and not Path(f"{project.rows}.failed").exists()
    assert "-- schemas\n" in project.run().clean().stdout  # the results of earlier runs are used
    assert_clean(project)


def test_a_store_that_is_mostly_former_results_is_replaced_by_the_next_edit_and_by_no_other_run(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_GROWTH", 0)
    built.path("derivatives.yaml").touch()
    assert built.run_patched().ok().ran == []
    built.set_formula("exp", "self", SECOND)
    assert {"schemas", "infos", "match"} <= set(built.run_patched().ok().ran)
    assert_clean(built)
    assert built.run().ran == []
