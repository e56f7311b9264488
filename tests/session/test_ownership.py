"""What is gradmill's: whatever writes or deletes a file refuses the same places, and names each of them.

A folder of output has one place of each kind; the rest is gradmill's own.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import forked
import pytest
from copies import copy_of
from msgspec.structs import replace
from project import (
    NODE_FILES,
    RECORD,
    SHARDS,
    Project,
    Run,
    assert_clean,
    files_in,
    is_plain,
)

from gradmill.session.paths import owner_of
from gradmill.session.settings.config import read_config
from gradmill.specs.location import Location

ELSEWHERE = "elsewhere"  # a folder outside of the output


def _link_to_foreign(path: Path, project: Project) -> None:
    (project.folder / ELSEWHERE / path.name).write_text("written by hand\n")
    path.symlink_to(project.folder / ELSEWHERE / path.name)


KINDS: dict[str, Callable[[Path, Project], object]] = {
    "an input": lambda path, project: os.link(project.path("derivatives.yaml"), path),
    "a foreign file": lambda path, project: path.write_text("written by hand\n"),
    "a foreign file with a mark": lambda path, project: path.write_text("// @generated from my own template\n"),
    "a link to an input": lambda path, project: path.symlink_to(project.path("tags.yaml")),
    "a link to a foreign file": _link_to_foreign,
    "a link to nothing": lambda path, project: path.symlink_to(project.folder / ELSEWHERE / "nothing"),
    "an empty folder": lambda path, project: path.mkdir(),
    "a pipe": lambda path, project: os.mkfifo(path),
}
OURS = "a link to a file of ours"
GENERATED = dict(zip((*KINDS, OURS), NODE_FILES))  # where each kind is, among generated files


def put(kind: str, path: Path, project: Project) -> None:
    """Puts something of a kind in the place of one of gradmill's files."""
    (project.folder / ELSEWHERE).mkdir(exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == OURS:
        shutil.move(path, project.folder / ELSEWHERE / path.name)
        path.symlink_to(project.folder / ELSEWHERE / path.name)
        return
    path.unlink(missing_ok=True)
    KINDS[kind](path, project)


def seen(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """All that there is in a folder: kind and inode of each, and what is in it or where it leads to."""
    result = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        inside = os.readlink(path).encode() if path.is_symlink() else b""
        inside = path.read_bytes() if stat.S_ISREG(status.st_mode) else inside
        result[path.relative_to(folder).as_posix()] = kind, status.st_ino, inside
    return result


class Done(NamedTuple):
    """What a command left of a folder with places of each kind."""

    name: str
    run: Run
    places: dict[str, Path]
    before: dict[str, tuple[int, int, bytes]]
    after: dict[str, tuple[int, int, bytes]]
    folder: Path


CACHE, RECORDS = "cache", "records"  # what may be lost of an earlier run
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "a run": ((), (CACHE, RECORDS)),
    "clean": (("clean",), ()),
    "clean without the cache": (("clean",), (CACHE,)),
    "clean without any record": (("clean",), (CACHE, RECORDS)),
    "clean of nothing": (("clean", "-n"), ()),
    "page": (("page",), (CACHE, RECORDS)),
}
TRIED = [pytest.param(name, marks=pytest.mark.extension("browse")) if name == "page" else name for name in COMMANDS]
DELETE = ("clean", "clean without the cache")
_DONE: dict[str, Done] = {}


@pytest.fixture
def done(request: pytest.FixtureRequest, tiny_built: Project, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A command's end, once for all kinds of places."""
    name = request.param
    if name not in _DONE:
        words, lost = COMMANDS[name]
        project = copy_of(tiny_built, tmp_path_factory.mktemp("ownership"))
        places = {kind: project.generated / file for kind, file in GENERATED.items()}
        if name == "page":
            assert project.gradmill("page").status == 0
            result = sorted(path for path in (project.generated / "page").rglob("*.html"))
            places = dict(zip((*KINDS, OURS), result))
        if CACHE in lost:
            shutil.rmtree(project.cache)
        for record in list(project.generated.rglob(RECORD)) if RECORDS in lost else ():
            shutil.rmtree(record)
        for kind, path in places.items():
            put(kind, path, project)
        before = seen(project.folder)
        _DONE[name] = Done(name, project.gradmill(*words), places, before, seen(project.folder), project.folder)
    return _DONE[name]


@pytest.mark.parametrize("kind", (*KINDS, OURS))
@pytest.mark.parametrize("done", TRIED, indirect=True)
def test_what_is_not_ours_stays_and_is_named(done: Done, kind: str) -> None:
    place = done.places[kind].relative_to(done.folder).as_posix()
    assert done.after.get(place) == done.before[place]
    assert done.run.status not in (0, None)
    assert [line for line in done.run.stderr.splitlines() if f"{done.places[kind]}: " in line] != [], done.run.stderr
    assert "Traceback" not in done.run.stderr


@pytest.mark.parametrize("done", TRIED, indirect=True)
def test_what_lies_elsewhere_stays(done: Done) -> None:
    outside = {path: actual for path, actual in done.before.items() if path.startswith((ELSEWHERE, "set"))}
    assert {path: done.after.get(path) for path in outside} == outside


@pytest.mark.parametrize("done", TRIED, indirect=True)
def test_clean_deletes_the_rest_and_other_commands_nothing(done: Done) -> None:
    theirs = {path.relative_to(done.folder).as_posix() for path in done.places.values()}
    own = {path for path, (kind, *_) in done.before.items() if path.startswith("generated/") and kind == stat.S_IFREG}
    own = {path for path in own if RECORD not in path}
    left = {path for path in own - theirs if path in done.after}
    assert left == (set() if done.name in DELETE else own - theirs)


# ---- places that a command line names, and those of the cache


def _manifest(project: Project) -> tuple[Path, tuple[str, ...]]:
    """Of a folder that is no cache yet."""
    shutil.rmtree(project.cache)
    return project.cache / project.specs.name / "manifest.json", ()


def _report(project: Project) -> tuple[Path, tuple[str, ...]]:
    path = project.folder / "report.txt"
    return path, ("coverage", "-o", str(path))


NAMED: dict[str, Callable[[Project], tuple[Path, tuple[str, ...]]]] = {
    "stamp": lambda project: (project.folder / "out.stamp", (f"stamp={project.folder / 'out.stamp'}",)),
    "manifest": _manifest,
    "depfile": lambda project: (project.generated / "Functions.h.d", ("layout=split",)),
    "report": _report,
}
WRITTEN = ("a foreign file", "a foreign file with a mark")  # over which a report goes: it was named to be written
FEW = ("an input", "a foreign file", "a link to a foreign file")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=[] if kind in FEW else pytest.mark.slow)
        for name in NAMED
        for kind in KINDS
        if name != "report" or kind not in WRITTEN
    ],
)
def test_a_place_that_is_named_and_not_ours_stays(tiny: Project, name: str, kind: str) -> None:
    tiny.set_formula("exp", "self", "2 * grad * result.conj()")
    path, words = NAMED[name](tiny)
    put(kind, path, tiny)
    before, outside, made = seen(path.parent)[path.name], seen(tiny.specs), tiny.files()
    run = tiny.gradmill(*words)
    assert tiny.files() == made  # it is refused before any work
    assert (run.status not in (0, None), seen(path.parent).get(path.name), seen(tiny.specs)) == (
        True,
        before,
        outside,
    )
    assert f"{path}: " in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_report_goes_over_the_file_that_is_named(tiny: Project, kind: str) -> None:
    path, words = _report(tiny)
    put(kind, path, tiny)
    tiny.gradmill(*words).ok()
    assert path.read_text() == tiny.gradmill("coverage").stdout


def test_gc_of_a_folder_that_is_no_cache_is_refused(project: Project) -> None:
    project.cache.mkdir()
    (project.cache / "notes.txt").write_text("mine")
    project.gradmill("gc").failed(f"{project.cache}: no run of gradmill noted anything here", status=3)


@pytest.mark.parametrize("kind", ["a link to a foreign file", "read-only", "of the base"])
def test_a_fix_changes_no_file_of_others(project: Project, kind: str) -> None:
    project.set_formula("exp", "self", "grad * reslt.conj()")
    path = project.path("derivatives.yaml")
    specs = project.specs
    if kind == "read-only":
        path.chmod(0o444)
    elif kind == "of the base":
        specs = project.folder / "described"
        specs.mkdir()
        (specs / "specset.toml").write_text('[base]\nspecs = "../set"\n')
    else:
        elsewhere = path.rename(project.folder / "elsewhere.yaml")
        path.symlink_to(elsewhere)
    before = path.read_bytes()
    run = project.gradmill("check", specs=specs, fix=1)
    assert run.status == 1, run
    assert path.read_bytes() == before
    assert "derivatives.yaml: it is " in run.stderr
    assert "it was not fixed" in run.stderr


# ---- files of others where the cache has its own


PRECIOUS = "precious data of others\n"
OWN = "rows rows-wal rows-shm set doit-0123456789ab lock".split()
OWN += "manifest.json manifest.json.d units.json page/rows last-0123456789ab".split()
OWN = [name.replace("rows", f"rows-{'0123456789abcdef'}") for name in OWN]


def put_precious(folder: Path, names: Iterable[str]) -> dict[str, tuple[int, int, bytes]]:
    """Puts files of others in a folder that gradmill never used; returns what is there."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PRECIOUS)
    return seen(folder)


@pytest.mark.parametrize("name", OWN)
def test_a_file_of_others_with_a_name_of_gradmill_s_own_is_refused(project: Project, name: str) -> None:
    before = put_precious(project.rows.parent, [name])
    run = project.gradmill()
    assert (run.status, project.files(), seen(project.rows.parent)) == (3, {}, before)
    assert f"{project.rows.parent / name}: there is a file that gradmill did not generate" in run.stderr


@pytest.mark.parametrize(
    "command",
    ["check", "explain", "clean", "list", "watch", "coverage", "gc",
     pytest.param("page", marks=pytest.mark.extension("browse"))],
)  # fmt: skip
def test_no_command_touches_files_of_others_in_the_cache(project: Project, command: str) -> None:
    before = put_precious(project.rows.parent, OWN)
    run = project.gradmill(command)
    assert (run.status, project.files(), seen(project.rows.parent)) == (3, {}, before), run.stderr
    assert command == "gc" or str(project.rows.parent / OWN[0]) in run.stderr


@pytest.mark.parametrize("command", ["diff", pytest.param("page", marks=pytest.mark.extension("browse"))])
def test_a_set_to_compare_with_has_a_folder_of_its_own_in_the_cache(tiny: Project, command: str) -> None:
    before = put_precious(tiny.cache / "other", OWN)
    other = shutil.copytree(tiny.specs, tiny.folder / "more" / "other")
    run = tiny.gradmill(command, against=other, against_release="2.13.0")
    assert (run.status, seen(tiny.cache / "other")) == (3, before), run.stderr
    assert str(tiny.cache / "other" / OWN[0]) in run.stderr


@pytest.mark.parametrize("survivor", ["rows-*[0-9a-f]", "set"])
def test_one_sound_file_shows_that_a_damaged_folder_is_gradmill_s(tiny: Project, survivor: str) -> None:
    sound = set(tiny.rows.parent.glob(survivor))
    assert sound
    for path in set(tiny.cached()) - sound:
        path.write_text(PRECIOUS)
    tiny.set_formula("exp", "self", "2 * grad * result.conj()")
    tiny.build()
    assert_clean(tiny)


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b""), Path.unlink], ids=["emptied", "deleted"])
def test_a_folder_in_which_nothing_is_left_is_used(tiny: Project, damage: Callable[[Path], object]) -> None:
    for path in tiny.cached():
        damage(path)
    tiny.build()
    assert_clean(tiny)


# ---- one cache, many sets


LOOKS = ["", "list", "explain", "page", "clean", "show match"]


@pytest.mark.parametrize(("words", "described"), [*((words, False) for words in LOOKS), ("", True)])
def test_another_set_of_the_same_name_is_refused_before_any_work(tiny: Project, words: str, described: bool) -> None:
    other = tiny.folder / "elsewhere" / "set"
    other.parent.mkdir()
    if described:
        other = other.with_name("described")
        other.mkdir()
        (other / "specset.toml").write_text('name = "set"\n[base]\nspecs = "../../set"\n')
    else:
        shutil.copytree(tiny.specs, other)
    before = seen(tiny.cache), seen(tiny.generated)
    run = tiny.gradmill(*words.split(), specs=other)
    assert (run.status, run.stdout) == (3, "")
    assert f"{tiny.rows.parent} belongs to another spec set, that of {tiny.path('native_functions.yaml')}" in run.stderr
    assert "give one of them another name" in run.stderr
    assert "or name another place: cache=DIR" in run.stderr
    assert (seen(tiny.cache), seen(tiny.generated)) == before


def test_another_set_of_the_same_name_is_checked_without_the_cache(tiny: Project) -> None:
    other = tiny.folder / "elsewhere" / "set"
    shutil.copytree(tiny.specs, other)
    tiny.set_formula("exp", "self", "grad * reslt")
    before = seen(tiny.cache), seen(tiny.generated)
    for specs, status in ((other, 0), (tiny.specs, 1), (other, 0)):
        run = tiny.gradmill("check", "strict=1", specs=specs)
        assert (run.status, "'reslt'" in run.stdout) == (status, bool(status)), run.stderr
    assert (seen(tiny.cache), seen(tiny.generated)) == before


def test_a_folder_that_gets_a_description_stays_the_same_set(tiny: Project) -> None:
    before = tiny.files()
    (tiny.specs / "specset.toml").write_text('name = "set"\n[base]\nspecs = "."\n')
    tiny.gradmill().ok()
    assert tiny.files() == before
    (tiny.specs / "specset.toml").unlink()
    assert tiny.gradmill().status == 0
    assert tiny.files() == before


def test_a_folder_that_another_set_writes_to_is_neither_cleaned_nor_written_to(tiny: Project) -> None:
    shutil.copytree(tiny.specs, tiny.folder / "other")
    before = seen(tiny.generated)
    for words in ((), ("clean",), ("page",)):
        run = tiny.gradmill(*words, specs=tiny.folder / "other")
        assert run.status == 3
        assert f"{tiny.generated} belongs to another spec set" in run.stderr
    assert seen(tiny.generated) == before


@pytest.mark.parametrize("place", ["manifest", "generated", "store"])
def test_a_stamp_does_not_go_over_what_gradmill_makes(built: Project, place: str) -> None:
    path = {
        "manifest": built.cache / "set" / "manifest.json",
        "generated": built.generated / "Functions.h",
        "store": built.rows,
    }[place]
    run = built.run(stamp=path)
    assert (run.status != 0, is_plain(run)) == (True, True), run.stderr
    built.build()
    assert_clean(built)


def _two_sets_of_one_name(folder: Path, specs: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(specs, folder / name / "set")
    path = folder / "two" / "set" / "derivatives.yaml"
    path.write_text(path.read_text().replace("self: grad * result.conj()\n", "self: result.conj() * grad\n", 1))


def test_a_note_of_the_owner_that_is_damaged_names_no_set(built: Project) -> None:
    path = built.cache / "set" / "set"
    before = path.read_text()
    path.write_text(before.replace("native_functions", "derivatives"))  # a file that is there
    assert path.read_text() != before
    built.set_formula("exp", "self", "2 * grad * result.conj()")
    run = built.run()
    assert (run.status, run.shards) == (0, ["Functions.cpp"])
    assert path.read_text() == before
    assert owner_of(str(path.parent)) == str(built.path("native_functions.yaml"))


@pytest.mark.parametrize("first", ["the folder itself", "a link"])
def test_a_link_that_is_switched_to_another_version_leads_to_the_same_set(
    tmp_path: Path, tiny_specs: Path, first: str
) -> None:
    """`set` is a link to one of two versions, as deployments have it."""
    one, two, link = tmp_path / "one", tmp_path / "two", tmp_path / "set"
    _two_sets_of_one_name(tmp_path, tiny_specs)
    for folder in (one, two):
        (folder / "set").rename(tmp_path / f"set.{folder.name}")
    (tmp_path / "set.one").rename(link) if first != "a link" else link.symlink_to("set.one")
    assert forked.gradmill(["specs=set"], tmp_path).status == 0
    link.unlink() if first == "a link" else link.rename(tmp_path / "set.one")
    link.symlink_to("set.two")
    forked.gradmill(["specs=set"], tmp_path).clean()
    assert b"result.conj() * grad" in (tmp_path / "generated" / "set" / "Functions.cpp").read_bytes()


def test_two_paths_that_lead_to_one_set_are_the_same_set(tmp_path: Path, tiny_specs: Path) -> None:
    shutil.copytree(tiny_specs, tmp_path / "real" / "set")
    (tmp_path / "linked").symlink_to("real")
    for words in (["specs=real/set"], ["specs=linked/set"], [f"specs={tmp_path}/linked/../real/set"]):
        assert forked.gradmill(words, tmp_path).status == 0


def test_the_sets_that_come_with_python_are_the_same_in_each_environment() -> None:
    """As two virtual environments have the embedded set, with one cache."""
    for name in ("one", "two"):
        set_ = replace(read_config({"specs": "core"}).specs, files={"native": Location(f"/{name}/native.yaml")})
        assert set_.owner == "core"


def test_a_project_that_is_moved_keeps_its_output(tiny_built: Project, tmp_path: Path) -> None:
    """The first set is still where it was, too."""
    copied = Project.at(tmp_path / "moved")
    shutil.copytree(tiny_built.folder, copied.folder)
    copied.gradmill().clean()
    assert_clean(copied)


def test_a_folder_of_output_that_is_named_gets_nothing_but_the_files(built: Project) -> None:
    place = built.folder / "place" / "set"
    assert built.run(generated=place).status == 0
    assert [path.name for path in place.parent.iterdir()] == ["set"]
    assert sorted(files_in(place)) == sorted(SHARDS)


def test_a_folder_that_is_spelt_otherwise_is_the_same_folder(built: Project) -> None:
    otherwise = {"generated": "generated", "cache": "cache"}
    assert built.gradmill(**otherwise).ran == ["manifest"]  # depfiles have paths as they were given
    assert built.gradmill(**otherwise).ran == []
    built.set_formula("exp", "self", "2 * grad * result.conj()")
    assert built.gradmill(**otherwise).shards == ["Functions.cpp"]
    os.truncate(built.generated / "Functions.cpp", 10)  # nothing in it says any more that it is generated
    assert built.gradmill().shards == ["Functions.cpp"]
    assert_clean(built)
