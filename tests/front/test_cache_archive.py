"""`cache export FILE`, `cache import FILE`: an imported store is as good as one that was built in place."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from copies import copy_of
from hostile_stores import ARCHIVES, NO_ARCHIVE, SCRIPTS, after_script, ending
from project import Project, is_plain
from sharing import unbuilt

from pipeline.front.run.lock import Lock
from pipeline.store.archive import DESCRIPTION

NO_PROCESS = 99_999_999


@pytest.fixture(scope="module")
def exported(small_built: Project, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The exported results of a small set."""
    file = tmp_path_factory.mktemp("exported") / "results.zip"
    run = copy_of(small_built, file.parent / "copy").run("cache", "export", str(file)).clean()
    assert " rows of set, release 2.13, by gradmill " in run.stdout
    return file.read_bytes()


@pytest.fixture
def archive(built: Project, exported: bytes) -> Path:
    """The same next to the set."""
    file = built.folder / "results.zip"
    file.write_bytes(exported)
    return file


@pytest.fixture
def elsewhere(built: Project, archive: Path, tmp_path: Path) -> Project:
    """The same set in another folder, with the imported results in a new cache."""
    other = unbuilt(built, tmp_path / "another machine")
    run = other.run("cache", "import", str(archive)).clean()
    assert " rows of set, release 2.13, by gradmill " in run.stdout
    return other


def test_after_an_import_a_run_computes_nothing_and_writes_all_files(built: Project, elsewhere: Project) -> None:
    run = elsewhere.run().ok()
    assert set(run.ran) == {f"shard:{name}" for name in built.files()} | {"manifest"}
    assert elsewhere.files() == built.files()
    assert elsewhere.manifest() == built.manifest()
    assert elsewhere.run().ran == []


def test_after_an_import_an_edit_runs_what_it_would_run_where_the_store_was_built(
    built: Project, elsewhere: Project
) -> None:
    elsewhere.build()
    for project in (built, elsewhere):
        project.set_formula("exp", "self", "result.conj() * grad")
    assert elsewhere.run().ran == built.run().ran
    assert elsewhere.files() == built.files()


def test_an_edit_before_the_import_is_reported_and_built(built: Project, archive: Path, tmp_path: Path) -> None:
    other = unbuilt(built, tmp_path / "edited")
    other.set_formula("exp", "self", "result.conj() * grad")
    run = other.run("cache", "import", str(archive)).ok()
    assert run.stderr == (
        "other inputs than those it was made from: derivatives; the next run rebuilds what depends on them\n"
    )
    assert other.build().files() == other.clean_build()


def test_a_set_of_another_name_may_import(built: Project, archive: Path, tmp_path: Path) -> None:
    shutil.copytree(built.specs, tmp_path / "renamed")
    other = copy_of(built, tmp_path / "spare")
    other.specs = tmp_path / "renamed"
    shutil.rmtree(other.cache)
    shutil.rmtree(other.generated)
    assert other.run("cache", "import", str(archive)).status == 0
    run = other.run().ok()
    assert run.units == []
    assert other.files() == built.files()


def test_warnings_are_reported_after_an_import(built: Project, tmp_path: Path) -> None:
    built.set_formula("exp", "self", "grad * reslt.conj()")
    warned = built.run()
    assert "reslt" in warned.stderr
    file = tmp_path / "warned.zip"
    assert built.run("cache", "export", str(file)).status == 0
    other = unbuilt(built, tmp_path / "other")
    assert other.run("cache", "import", str(file)).status == 0
    assert other.run().stderr.replace(str(other.folder), str(built.folder)) == warned.stderr


def test_an_import_replaces_the_results_that_the_cache_has(built: Project, archive: Path) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    built.build()
    built.set_formula("exp", "self", "grad * result.conj()")
    assert built.run("cache", "import", str(archive)).status == 0
    assert built.run().units == []


def test_equal_results_are_exported_as_equal_bytes(built: Project, archive: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    assert built.run("cache", "export", str(again)).status == 0
    assert again.read_bytes() == archive.read_bytes()


def test_an_export_has_only_what_runs_need(built: Project, archive: Path, tmp_path: Path) -> None:
    built.set_formula("exp", "self", "result.conj() * grad * 2")
    built.build()
    built.set_formula("exp", "self", "grad * result.conj()")
    built.build()
    file = tmp_path / "later.zip"
    assert built.run("cache", "export", str(file)).status == 0
    assert _sizes(file) == _sizes(archive)
    with zipfile.ZipFile(file) as later:
        assert b"result.conj() * grad * 2" not in later.read("rows.values")


def test_an_export_names_nothing_of_the_machine(built: Project, archive: Path) -> None:
    with zipfile.ZipFile(archive) as members:
        contents = b"".join(map(members.read, members.namelist()))
    names = (str(built.folder), str(Path(__file__).parents[2]), f"{os.path.expanduser('~')}/", os.uname().nodename)
    assert [name for name in names if len(name) > 4 and name.encode() in contents] == []


def _sizes(file: Path) -> list[int]:
    with zipfile.ZipFile(file) as members:
        return [member.file_size for member in members.infolist()]


def test_an_import_that_was_killed_leaves_the_cache_as_it_was(built: Project, archive: Path) -> None:
    scratch = built.rows.parent / "transfer"  # what a killed process leaves
    for end in ("", ".values", "-wal", "-shm"):
        Path(f"{scratch}{end}").write_bytes(b"half of a file")
    assert built.run().ran == []
    assert built.run("cache", "import", str(archive)).status == 0
    assert list(scratch.parent.glob("transfer*")) == []
    assert built.run().units == []


def test_garbage_collection_deletes_what_a_killed_import_left_and_no_running_one(built: Project) -> None:
    folder = built.rows.parent
    names = ["transfer", "transfer.values", "transfer-wal", "transfer.zip"]
    names += [f"transfer.{each}.{NO_PROCESS}.{'0' * 16}.tmp" for each in ("values", "zip")]
    for name in names:
        (folder / name).write_bytes(b"half of a file")
    lock = Lock(str(folder / "lock"))
    assert lock.try_to_take()
    assert built.run("gc").status == 0
    assert sorted(path.name for path in folder.glob("transfer*")) == sorted(names[:4])
    lock.release()
    assert built.run("gc").status == 0
    assert list(folder.glob("transfer*")) == []
    assert built.run().ran == []


# ---- what is refused


def _rewritten(change: Callable[[dict[str, bytes]], object]) -> Callable[[Path], None]:
    """A change of the members of an archive."""

    def apply(file: Path) -> None:
        with zipfile.ZipFile(file) as old:
            members = {name: old.read(name) for name in old.namelist()}
        change(members)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
            for name, data in members.items():
                new.writestr(name, data)

    return apply


def _described(**fields: object) -> Callable[[Path], None]:
    def change(members: dict[str, bytes]) -> None:
        members[DESCRIPTION] = json.dumps({**json.loads(members[DESCRIPTION]), **fields}).encode()

    return _rewritten(change)


def _twice(file: Path) -> None:
    """Two members of one name, of which the directory has the one, and then the other."""
    data = file.read_bytes()
    file.write_bytes(data.replace(b"rows.values", b"gradmill-store.json"[-11:]))


def _of_rows(script: str) -> Callable[[Path], None]:
    """A change of the database in an archive, which its description agrees with."""

    def change(members: dict[str, bytes]) -> None:
        rows = members["rows"] = after_script(members["rows"], script)
        description = json.loads(members[DESCRIPTION])
        description["parts"]["rows"] = {"size": len(rows), "sha256": hashlib.sha256(rows).hexdigest()}
        members[DESCRIPTION] = json.dumps(description).encode()

    return _rewritten(change)


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "no archive": (lambda file: file.write_text("a text"), NO_ARCHIVE),
    "empty": (lambda file: file.write_bytes(b""), NO_ARCHIVE),
    "cut": (lambda file: os.truncate(file, file.stat().st_size // 2), NO_ARCHIVE),
    "an offset out of it": (
        lambda file: file.write_bytes(file.read_bytes()[:-6] + b"\xff\xff\xff\x0f" + bytes(2)),
        NO_ARCHIVE,
    ),
    "a member is missing": (_rewritten(lambda members: members.pop("rows.values")), NO_ARCHIVE),
    "a member more": (_rewritten(lambda members: members.update({"more": b"x"})), NO_ARCHIVE),
    "a member leads out of the folder": (
        _rewritten(lambda members: members.update({"../../evil": members.pop("rows.values")})),
        "it has other members than an archive of a store",
    ),
    "a member twice": (_twice, "it has other members than an archive of a store"),
    "other values": (
        _rewritten(lambda members: members.update({"rows.values": members["rows.values"][:-1] + b"?"})),
        "it is damaged: rows.values does not match the digest in its description",
    ),
    "longer than described": (
        _rewritten(lambda members: members.update({"rows": members["rows"] + b"\0" * 5_000_000})),
        "it is damaged: rows does not match the digest in its description",
    ),
    "no JSON": (
        _rewritten(lambda members: members.update({DESCRIPTION: b"{"})),
        "it is damaged: Input data was truncated",
    ),
    "another type": (
        _described(parts=[]),
        r"it is damaged: Expected `object`, got `array` - at `\$.parts`",
    ),
    "a later format": (
        _described(format="store/3", more="fields"),
        "another version of gradmill made it, with another format of the store",
    ),
    "compressed in a later way": (_described(compression="brotli"), "it is compressed in an unknown way"),
    "not compressed as described": (
        _described(compression="zstd"),
        "it is damaged: zstd decompress error: Unknown frame descriptor",
    ),
    "another format of the store": (
        _described(store=1),
        "another version of gradmill made it, with another format of the store",
    ),
    "more than any set has": (
        _described(parts={"rows": {"size": (1 << 26) + 1, "sha256": ""}, "rows.values": {"size": 1, "sha256": ""}}),
        "it has more than any set has",
    ),
    "a size below zero": (
        _described(parts={"rows": {"size": 1 << 40, "sha256": ""}, "rows.values": {"size": -1 << 40, "sha256": ""}}),
        r"it is damaged: Expected `int` >= 0 - at `\$.parts.*",
    ),
    "a description that is deep": (
        _rewritten(lambda members: members.update({DESCRIPTION: b'{"a":' * 9_000 + b"1" + b"}" * 9_000})),
        "it is damaged: it is nested too deeply",
    ),
    "a description that is long": (
        _rewritten(lambda members: members.update({DESCRIPTION: b" " * 200_000})),
        "its description is too long",
    ),
}
HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    **{
        name: (lambda file, change=change: file.write_bytes(change(file.read_bytes())), problem)
        for name, (change, problem) in ARCHIVES.items()
    },
    **{
        name: (_of_rows(script), rf"the store in it is damaged \({problem}\)")
        for name, (script, problem) in SCRIPTS.items()
    },
}


def _is_refused(project: Project, archive: Path, change: Callable[[Path], object], problem: str) -> None:
    """Whether an archive is refused after a change, in time, and nothing changes."""
    change(archive)
    before = project.tree()
    with ending():
        run = project.run("cache", "import", str(archive))
    assert run.status == 3
    line = f"ERROR: {re.escape(str(archive))}: {problem}\n  nothing was imported; export it again, with this gradmill\n"
    assert re.fullmatch(line, run.stderr), run.stderr
    assert is_plain(run)
    after = project.tree()
    assert {path for path in after if before.get(path) != after[path] and not path.endswith("/set")} <= {
        f"{project.rows.parent}/lock"
    }
    assert project.run().ran == []


@pytest.mark.parametrize("damage", BAD)
def test_a_bad_archive_is_refused_and_nothing_changes(built: Project, archive: Path, damage: str) -> None:
    _is_refused(built, archive, *BAD[damage])


@pytest.mark.parametrize("attack", HOSTILE)
def test_who_made_an_archive_cannot_hold_up_an_import(built: Project, archive: Path, attack: str) -> None:
    _is_refused(built, archive, *HOSTILE[attack])


def test_one_flipped_byte_is_never_imported(built: Project, archive: Path) -> None:
    draw, sound = Random(0), archive.read_bytes()
    files = built.files()
    for _ in range(8):
        at = draw.randrange(len(sound))
        data = bytearray(sound)
        data[at] ^= 1 << draw.randrange(8)
        archive.write_bytes(data)
        run = built.run("cache", "import", str(archive))
        assert run.status in (0, 3) and "Traceback" not in run.stderr, (at, run.stderr)
        after = built.run()
        assert (after.status, after.units, after.stderr) == (0, [], ""), at
        assert built.files() == files


def test_a_store_with_wrong_digests_inside_is_refused(built: Project, archive: Path) -> None:
    import hashlib

    def change(members: dict[str, bytes]) -> None:
        values = bytearray(members["rows.values"])
        values[len(values) // 2] ^= 1
        description = json.loads(members[DESCRIPTION])
        description["parts"]["rows.values"]["sha256"] = hashlib.sha256(values).hexdigest()
        members.update({"rows.values": bytes(values), DESCRIPTION: json.dumps(description).encode()})

    _rewritten(change)(archive)
    run = built.run("cache", "import", str(archive))
    assert run.status == 3
    assert "the store in it is damaged (a value is missing, or older than the rest)" in run.stderr
    assert built.run().ran == []


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
@pytest.mark.parametrize("word", ["export", "import"])
def test_places_that_are_no_files_are_refused(built: Project, word: str, kind: str) -> None:
    place = built.folder / "place"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif word == "export":
        place = place / "deeper" / "still"
    run = built.run("cache", word, str(place))
    assert run.status == 3
    assert str(place) in run.stderr
    assert is_plain(run)


def test_an_export_overwrites_exports_only(built: Project, archive: Path) -> None:
    assert built.run("cache", "export", str(archive)).status == 0
    foreign = built.folder / "notes.txt"
    foreign.write_text("mine")
    link = built.folder / "link"
    link.symlink_to(archive)
    for place in (foreign, link, built.path("derivatives.yaml"), built.generated / "Functions.h"):
        before = place.read_bytes()
        run = built.run("cache", "export", str(place))
        assert run.status == 3, place
        assert is_plain(run)
        assert place.read_bytes() == before


def test_a_cache_of_another_set_is_not_replaced(built: Project, archive: Path, tmp_path: Path) -> None:
    other = unbuilt(built, tmp_path / "other")
    other.run("cache", "import", str(archive), cache=built.cache).failed("belongs to another spec set", status=3)
    assert built.run().ran == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "cache: name an action"),
        (["exprt", "x"], "cache: no action 'exprt'\n  did you mean 'export'?"),
        (["export"], "cache export: name one file"),
        (["import", "a", "b"], "cache import: name one file"),
    ],
)
def test_words_that_are_missing_or_misspelt_are_named(built: Project, words: list[str], problem: str) -> None:
    built.run("cache", *words).failed(problem, status=3)


def test_nothing_is_exported_before_the_first_run(project: Project) -> None:
    run = project.run("cache", "export", str(project.folder / "file"))
    assert run.status == 3
    assert "there are no results to export\n  run gradmill first, with these variables" in run.stderr
    assert not (project.folder / "file").exists()
