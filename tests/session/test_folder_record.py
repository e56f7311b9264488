"""The record in an output folder: whatever happens to the cache, gradmill knows its own files and no others."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from random import Random

import msgspec
import pytest
from copies import copy_of
from project import RECORD, Project, files_in, sources

from gradmill.io.checked import with_checksum
from gradmill.io.files import replace_file
from gradmill.session.output import outputs
from gradmill.session.output.folder_record import FolderRecord, file_of, owner_from

NODES = {"families": "nodes"}
OTHERS = {"families": "factories"}  # than what a split layout writes first
HEADER = "variable_factories.h"  # of another family
SPLIT = {"layout": "split", "shards": 2}
TORCHGEN = "// @generated from ../tools/autograd/templates/TraceType.cpp\n"


def record_of(project: Project) -> Path:
    return project.generated / RECORD / "written"


def named(project: Project) -> set[str]:
    """The files that the record names."""
    record = FolderRecord(str(project.generated))
    return {os.path.relpath(path, record.folder) for path in record.paths()}


def assert_like_clean(project: Project, **variables: object) -> None:
    assert sources(project.files()) == sources(project.clean_build(**variables))
    assert set(project.files()) == named(project)


# ---- the cache is damaged


@pytest.mark.parametrize("lost", ["last-*", "*"])
def test_files_of_another_layout_go_whatever_happens_to_the_cache(built: Project, lost: str) -> None:
    built.replace("templates/variable_factories.h", "#pragma once", "#pragma once  // edited")
    built.build()
    for path in built.rows.parent.glob(lost):
        path.unlink()
    built.run(**NODES).clean()
    assert HEADER not in built.files()
    assert_like_clean(built, **NODES)


@pytest.mark.parametrize("variables", [NODES, SPLIT], ids=str)
def test_another_set_with_another_cache_has_the_folder_after_the_first_is_deleted(
    tiny: Project, tmp_path: Path, variables: dict[str, object]
) -> None:
    other = Project(tmp_path / "more", tiny.specs, "2.13.0", name="other")
    other.generated = tiny.generated
    other.replace("derivatives.yaml", "self: grad * result.conj()\n", "self: grad * result.conj() * 2\n")
    before = tiny.files()
    run = other.run(**variables)
    place = f"{tiny.generated} belongs to another spec set, that of {tiny.path('native_functions.yaml')}"
    assert (run.status, place in run.stderr, tiny.files()) == (3, True, before)
    shutil.rmtree(tiny.specs)
    other.run(**variables).clean()
    assert_like_clean(other, **variables)


def test_a_folder_of_files_that_go_does_not_stay_empty(kernels: Project) -> None:
    assert (kernels.generated / "templates").is_dir()
    kernels.run(**NODES).clean()
    assert [path.name for path in kernels.generated.iterdir() if path.is_dir()] == [RECORD]


# ---- killed


@pytest.mark.slow(0.7)
@pytest.mark.parametrize("writes", [0, 1, 7])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("command", ["run", "worker"])  # the latter keeps a build in memory, as `watch` does
def test_what_a_killed_run_wrote_is_known(
    tiny_built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int, before: bool, command: str
) -> None:
    """Killed right before or right after a write; its cache is lost, too."""
    project, done = copy_of(tiny_built, tmp_path), []

    def replace(path: str, *parts: bytes) -> None:
        if before and len(done) == writes:
            os.kill(os.getpid(), signal.SIGKILL)
        replace_file(path, *parts)
        done.append(path)
        if len(done) > writes:
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(outputs, "replace_file", replace)
    assert project.run_patched(command, **SPLIT).status == -signal.SIGKILL
    monkeypatch.undo()
    shutil.rmtree(project.cache)
    project.run(**OTHERS).clean()
    assert_like_clean(project, **OTHERS)


# ---- edited by hand


def test_a_file_of_an_earlier_layout_that_was_edited_stays_and_is_reported_each_time(tiny: Project) -> None:
    tiny.run(**SPLIT).clean()
    path = tiny.generated / "Functions_1.cpp"
    path.write_text(edited := f"{path.read_text()}// edited\n")
    for lost in (False, False, True):
        if lost:
            shutil.rmtree(tiny.cache)
        run = tiny.run().ok()
        assert run.stderr == (
            f"{path}: this file was changed after gradmill generated it; it is no longer part of the output, and was"
            " not deleted: move or delete it\n"
        )
        assert {name for name in tiny.files() if "_1." in name} >= {path.name}
        assert path.read_text() == edited
    path.unlink()
    tiny.run().clean()
    assert_like_clean(tiny)
    assert tiny.run().clean().ran == []


@pytest.mark.parametrize("lost", [(), ("cache",), ("cache", "record")], ids=str)
def test_a_copy_with_notes_stays_whatever_its_name_and_head_are(tiny: Project, lost: tuple[str, ...]) -> None:
    tiny.run().clean()
    copy = tiny.generated / "Functions_1.cpp"  # the name of a shard of the other layout
    copy.write_text(notes := (tiny.generated / "Functions.cpp").read_text() + "// hours of my notes\n")
    for each in lost:
        shutil.rmtree(tiny.cache if each == "cache" else tiny.generated / RECORD)
    for words, variables in (((), {}), ((), NODES), (("clean",), {}), (("clean",), NODES)):
        tiny.run(*words, **variables)
        assert copy.read_text() == notes


def test_clean_keeps_an_edited_file_and_names_it(tiny: Project) -> None:
    tiny.run().clean()
    path = tiny.generated / "Functions.cpp"
    path.write_text(notes := path.read_text() + "// hours of my notes\n")
    run = tiny.run("clean")
    assert (run.status, run.stderr) == (
        1,
        f"{path}: this file was changed after gradmill generated it; it was not deleted\n",
    )
    assert (list(tiny.files()), path.read_text()) == ([path.name], notes)


def test_a_file_that_cannot_be_deleted_is_reported_and_deleted_later(
    tiny_built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, unlink = copy_of(tiny_built, tmp_path), os.unlink
    project.run(**SPLIT).clean()

    def refuse(path: str) -> None:
        if path.endswith("Functions_1.cpp"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", refuse)
    run = project.run_patched().ok()
    assert f"{project.generated / 'Functions_1.cpp'}: Permission denied; it is no longer part" in run.stderr
    monkeypatch.undo()
    project.run().clean()
    assert_like_clean(project)


def test_a_file_of_others_where_a_deleted_one_was_is_none_of_ours(tiny: Project) -> None:
    tiny.run(**SPLIT).clean()
    tiny.run().clean()
    path = tiny.generated / "Functions_1.cpp"
    path.write_text("written by hand\n")
    tiny.run().clean()
    assert path.read_text() == "written by hand\n"


# ---- the record itself is damaged


def _unrecorded(project: Project, names: str, count: int) -> str:
    return (
        f"{project.generated}: {names}: {count} generated files are not part of the output, and no record says whether"
        " gradmill wrote them; they were not deleted\n"
    )


@pytest.mark.parametrize("cut", [0.0, 0.5, 0.99, None])
def test_what_the_record_lost_stays_and_is_named_whatever_the_cache_knows(tiny: Project, cut: float | None) -> None:
    tiny.run().clean()
    path = record_of(tiny)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)]) if cut is not None else shutil.rmtree(path.parent)
    run = tiny.run(**NODES)
    assert (run.status, run.stderr) == (0, _unrecorded(tiny, HEADER, 1))  # it is the last one
    (tiny.generated / HEADER).unlink()
    tiny.run(**NODES).clean()
    assert_like_clean(tiny, **NODES)


def test_a_deleted_record_is_put_back_by_a_run_that_has_nothing_else_to_do(built: Project) -> None:
    built.run().clean()
    before = record_of(built).read_bytes()
    shutil.rmtree(record_of(built).parent)
    assert built.run().clean().ran == []
    assert record_of(built).read_bytes() == before
    assert (record_of(built).parent / ".gitignore").read_text() == "*\n"


def test_without_any_record_files_of_other_families_stay_and_are_named_once(built: Project) -> None:
    built.run().clean()
    (built.generated / "TraceType_0.cpp").write_text(TORCHGEN)
    shutil.rmtree(built.cache)
    record_of(built).write_bytes(b"")
    before = built.files()
    run = built.run(**NODES)
    assert (run.status, run.stderr) == (0, _unrecorded(built, f"TraceType_0.cpp, {HEADER}", 2))
    assert built.run(**NODES).clean().ran == []
    assert built.files() == before


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_folder_that_is_not_one_s_own_is_refused(project: Project, kind: str) -> None:
    place, elsewhere = project.generated / RECORD, project.folder / "elsewhere"
    project.generated.mkdir()
    elsewhere.mkdir()
    place.symlink_to(elsewhere) if kind == "link" else place.write_text("mine\n")
    project.run().failed(f"{place}: gradmill keeps the record of its files in a folder of this name")
    assert (files_in(project.generated), list(elsewhere.iterdir())) == ({}, [])


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
def test_what_is_in_the_place_of_the_record_is_replaced(tiny: Project, kind: str) -> None:
    path, elsewhere = record_of(tiny), tiny.folder / "elsewhere"
    tiny.run().clean()
    before = path.read_bytes()
    path.unlink()
    elsewhere.write_text("mine\n")
    kinds: dict[str, Callable[[], object]] = {
        "link": partial(path.symlink_to, elsewhere),
        "hard link": partial(path.hardlink_to, elsewhere),
        "pipe": partial(os.mkfifo, path),
        "folder": path.mkdir,
    }
    kinds[kind]()
    tiny.run().clean()
    tiny.run(**SPLIT).clean()
    tiny.run().clean()
    assert (path.read_bytes(), elsewhere.read_text()) == (before, "mine\n")


def test_a_record_of_an_older_gradmill_begins_anew(tiny: Project) -> None:
    tiny.run().clean()
    before = record_of(tiny).read_bytes()
    lines = [b'["written/2",10,"./x"]', *(b'["%b","%b"]' % (name.encode(), b"00" * 16) for name in named(tiny))]
    record_of(tiny).write_bytes(b"".join(with_checksum(line) + b"\n" for line in lines))
    run = tiny.run(**NODES)
    assert (run.status, run.stderr) == (0, _unrecorded(tiny, HEADER, 1))
    tiny.run().clean()
    assert record_of(tiny).read_bytes() == before


def test_a_clone_with_committed_output_and_no_record_goes_on(tiny: Project) -> None:
    tiny.run().clean()
    shutil.rmtree(record_of(tiny).parent)
    shutil.rmtree(tiny.cache)
    times = tiny.mtimes()
    tiny.run().clean()
    assert tiny.mtimes() == times
    shutil.rmtree(record_of(tiny).parent)
    shutil.rmtree(tiny.cache)
    tiny.set_formula("exp", "self", "2 * grad * result.conj()")
    tiny.run().clean()
    assert_like_clean(tiny)


# ---- files that variables name


def test_a_file_that_a_variable_named_is_not_recorded_and_stays(tiny: Project) -> None:
    words = {name: tiny.generated / f"out.{name}" for name in ("stamp", "depfile", "outputs")}
    tiny.run(**words).clean()
    tiny.run().clean()
    assert {path.name for path in words.values()} <= set(tiny.files()) - named(tiny)
    tiny.set_formula("exp", "self", "2 * grad * result.conj()")
    tiny.run(**words).clean()
    assert tiny.run("clean").status == 0
    assert set(tiny.files()) == {path.name for path in words.values()}


def test_a_depfile_is_known_by_any_file_that_was_generated(tiny: Project) -> None:
    depfile = tiny.folder / "out.d"
    tiny.run(depfile=depfile, families="nodes").clean()
    first = depfile.read_bytes()
    tiny.run(depfile=depfile, families="factories").clean()
    assert depfile.read_bytes().split(b":")[0] != first.split(b":")[0]
    depfile.write_bytes(b"other.o: mine.h\n")
    tiny.run(depfile=depfile, families="factories").failed(f"{depfile}: there is a file that gradmill did not generate")


# ---- what it says, and where


def test_the_record_names_no_machine_and_depends_on_no_history(tiny: Project, tmp_path: Path) -> None:
    tiny.run(**SPLIT).clean()
    tiny.run().clean()
    data = record_of(tiny).read_bytes()
    assert str(tmp_path).encode() not in data
    shutil.rmtree(tiny.generated)
    shutil.rmtree(tiny.cache)
    tiny.run().clean()
    assert record_of(tiny).read_bytes() == data
    inode = record_of(tiny).stat().st_ino
    tiny.append("derivatives.yaml", "# a comment")
    tiny.run().clean()
    assert record_of(tiny).stat().st_ino == inode


def test_clean_removes_the_record_with_the_last_file(tiny: Project) -> None:
    tiny.run().clean()
    path = tiny.generated / HEADER
    path.write_text("edited\n")
    assert tiny.run("clean").status == 1
    assert named(tiny) == {HEADER}
    path.unlink()
    tiny.run("clean").clean()
    assert list(tiny.generated.iterdir()) == []


def test_a_tree_has_no_record(tiny: Project, tmp_path: Path) -> None:
    tiny.generated = tmp_path / "tree"
    tiny.run(tree="csrc").clean()
    assert list(tiny.generated.rglob(RECORD)) == []
    assert files_in(tiny.generated)


def test_a_folder_that_a_link_leads_to_has_one_record(tiny: Project, tmp_path: Path) -> None:
    shutil.rmtree(tiny.generated)
    real = tmp_path / "real"
    real.mkdir()
    tiny.generated.symlink_to(real)
    tiny.run(**SPLIT).clean()
    shutil.rmtree(tiny.cache)
    tiny.generated = real
    tiny.run().clean()
    assert_like_clean(tiny)


# ---- the record alone


PLAIN = ("a.h", "b/c d.cpp", "b/e.h")
ODD = (*PLAIN, "ü \n.h")
Digests = dict[str, set[bytes]]


def _record(folder: Path, names: Iterable[str] = ODD) -> tuple[FolderRecord, Digests]:
    files = {str(folder / name): bytes([number]) * 16 for number, name in enumerate(names)}
    FolderRecord(str(folder)).complete(str(folder.parent / "set" / "derivatives.yaml"), files, {})
    return FolderRecord(str(folder)), {path: {digest} for path, digest in files.items()}


def _digests(record: FolderRecord) -> Digests:
    return {path: set(record.digests_of(path)) for path in record.paths()}


@pytest.mark.parametrize("names", [PLAIN, ODD], ids=["plain", "odd"])
def test_no_damage_to_a_record_invents_a_file_or_goes_unnoticed(tmp_path: Path, names: tuple[str, ...]) -> None:
    record, files = _record(tmp_path, names)
    owner = str(tmp_path.parent / "set" / "derivatives.yaml")
    assert (record.is_intact, record.owner, _digests(record)) == (True, owner, files)
    whole, random = Path(record.path).read_bytes(), Random(0)
    damaged = [whole[:size] for size in range(len(whole) - 1)]
    for _ in range(300):
        data = bytearray(whole)
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        damaged.append(bytes(data))
    damaged.append(whole + with_checksum(b"no digest") + b"\n")
    for data in damaged:
        Path(record.path).write_bytes(data)
        read = FolderRecord(str(tmp_path))
        assert not read.is_intact
        assert _digests(read).items() <= files.items()
        new = str(tmp_path / "new.h")
        read.expect({new: b"n" * 16})
        assert _digests(FolderRecord(str(tmp_path))) == {**_digests(read), new: {b"n" * 16}}


def test_a_line_cut_by_a_kill_loses_no_other(tmp_path: Path) -> None:
    record, files = _record(tmp_path)
    record.expect({str(tmp_path / "new.h"): b"n" * 16})
    os.truncate(record.path, os.path.getsize(record.path) - 5)
    after = FolderRecord(str(tmp_path))
    assert _digests(after) == files
    after.expect({str(tmp_path / "newer.h"): b"m" * 16})
    assert _digests(FolderRecord(str(tmp_path))) == {**files, str(tmp_path / "newer.h"): {b"m" * 16}}


@pytest.mark.parametrize("name", ["../out.h", "/etc/out.h", "a//b.h", ".", "", "a/../../out.h", "a\0b"])
def test_a_record_names_nothing_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    record, files = _record(tmp_path)
    with open(record.path, "ab") as file:
        file.write(with_checksum(msgspec.json.encode((name, bytes(16)))) + b"\n")
    after = FolderRecord(str(tmp_path))
    assert (after.is_intact, _digests(after)) == (False, files)


@pytest.mark.parametrize("name", ["../out.h", "/etc/out.h", "a//b.h", ".", "", "a/..", "a/", "a/../../out.h"])
def test_a_complete_record_names_nothing_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    record, _ = _record(tmp_path, PLAIN)
    owner = owner_from(record.owner, str(tmp_path))
    Path(record.path).write_bytes(file_of(owner, {each: [bytes(16)] for each in (*PLAIN, name)}))
    after = FolderRecord(str(tmp_path))
    assert (after.is_intact, after.owner, _digests(after)) == (
        False,
        str(tmp_path.parent / "set" / "derivatives.yaml"),
        {},
    )


def test_a_file_with_several_digests_keeps_them(tmp_path: Path) -> None:
    """One that stays after it was edited: any of the bytes that gradmill wrote may be deleted."""
    record, files = _record(tmp_path, PLAIN)
    remaining = {str(tmp_path / "a.h"): {b"n" * 16, b"m" * 16}}
    record.complete(
        record.owner, {path: digest for path, (digest,) in files.items() if path not in remaining}, remaining
    )
    after = FolderRecord(str(tmp_path))
    assert (after.is_complete, _digests(after)) == (True, {**files, **remaining})


def test_files_outside_of_the_folder_are_not_recorded(tmp_path: Path) -> None:
    record, files = _record(tmp_path / "in")
    record.expect({str(tmp_path / "out.h"): b"n" * 16})
    assert _digests(FolderRecord(str(tmp_path / "in"))) == files


def test_a_record_of_a_tree_has_files_anywhere_by_their_plain_paths(tmp_path: Path) -> None:
    path, files = str(tmp_path / "cache" / "written"), {str(tmp_path / "shims" / "a.h"): b"n" * 16}
    FolderRecord(str(tmp_path / "tree"), path).complete("core", files, {})
    assert FolderRecord(str(tmp_path / "tree"), path).paths() == files.keys()
