"""Defects that were once found, and must not come back: one test each, whatever part they were in."""

from __future__ import annotations

import copy
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from random import Random

import forked
import pytest
from copies import TICK, copy_of
from never_wrong.runs import Place
from never_wrong.specset import read_specs
from project import CORE, JOINED, KERNEL_FILES, ROOT, SHARDS, Project, Run, files_in, finish

from pipeline.code.files import CodeChanged
from pipeline.front.output.claims import owners_in
from pipeline.front.run.build import Build
from pipeline.front.settings.config import read_config
from pipeline.query.row import Input
from pipeline.specs.location import Location

RELEASE = (CORE / "RELEASE").read_text().strip()
SLEF = "- name: exp(Tensor self) -> Tensor\n  slef: grad * result.conj()\n  result: auto_element_wise\n"


def is_plain(run: Run) -> bool:
    """Whether a refusal is one for people: a few lines, no traceback."""
    return "Traceback" not in run.stderr + run.stdout and 0 < len(run.stderr.splitlines()) < 8


def elsewhere(*words: object, cwd: Path, group: bool = False) -> subprocess.Popen[str]:
    """A Python with this gradmill, in another folder than that of dodo.py."""
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=group,
    )


def assert_clean(project: Project, **variables: object) -> None:
    """What is there is what a build makes that knows nothing."""
    files = {name: data for name, data in project.files().items() if not name.endswith(".d")}
    wanted = project.clean_build(**variables)
    assert files == {name: data for name, data in wanted.items() if not name.endswith(".d")}
    assert project.manifest() == project.clean_manifest(**variables)


# ---- the cache

DAMAGES: dict[str, Callable[[Path], object]] = {
    "lost": Path.unlink,
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "turned": lambda path: path.write_bytes(path.read_bytes()[::-1]),
}
CACHED = ["rows", "rows.seal", "rows.values", "last-*", "set", "manifest.json", "manifest.json.d", "../outputs"]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", CACHED)
def test_a_damaged_cache_under_one_task_does_not_spoil_the_next_run(built: Project, name: str, damage: str) -> None:
    for path in (built.cache / "set").glob(name):
        DAMAGES[damage](path)
    built.set_formula("exp", "self", "2 * grad * result.conj()")
    assert built.run("match").status == 0
    (built.generated / "Functions.cpp").unlink()
    run = built.run()
    assert run.status == 0, run.stderr
    assert_clean(built)
    assert built.run().ran == []


@pytest.mark.parametrize("damage", ["rows.seal", "rows", "rows.values"])
def test_a_mistake_and_a_warning_are_reported_after_a_damage(built: Project, damage: str) -> None:
    lost = "its values cannot be read: No such file or directory"
    discarded = f"{built.rows}: the store is damaged ({lost}): it is discarded, and rebuilt\n"
    before = discarded if damage == "rows.values" else ""  # without rows there is no store, and a seal is made again
    built.set_formula("exp", "self", "grad * slef")
    warned = built.run()
    (built.cache / "set" / damage).unlink()
    assert built.run().stderr == before + warned.stderr
    built.set_formula("sin", "self", "cos(grd)\n  slef: grad")
    refused = built.run()
    assert refused.status == 1
    (built.cache / "set" / damage).unlink()
    again = built.run()
    assert (again.status, again.stderr) == (1, before + refused.stderr)


def test_a_lost_seal_costs_no_work(built: Project) -> None:
    built.set_formula("exp", "self", "2 * grad * result.conj()")
    built.build()
    (built.cache / "set" / "rows.seal").unlink()
    built.path("derivatives.yaml").touch()
    assert built.run().ran == []


@pytest.mark.parametrize("layout", ["upstream", "split"])
@pytest.mark.parametrize("damage", ["whole", "last-*", "rows", "rows.seal", "rows.values"])
def test_files_of_the_other_layout_do_not_stay_after_a_damage(built: Project, layout: str, damage: str) -> None:
    other = "split" if layout == "upstream" else "upstream"
    assert built.run(layout=other, shards=4).status == 0
    if damage == "whole":
        shutil.rmtree(built.cache)
    for path in (built.cache / "set").glob(damage):
        path.unlink()
    mine = built.generated / "Functions_mine.h"
    mine.write_text("#pragma once\n")
    assert built.run(layout=layout, shards=4).status == 0
    assert mine.read_text() == "#pragma once\n"
    mine.unlink()
    assert_clean(built, layout=layout, shards=4)
    depfiles = [path for path in built.generated.glob("*.d") if layout == "upstream"]
    assert depfiles == []


@pytest.mark.parametrize("command", [(), ("explain",), ("explain", "ExpBackward0"), ("show", "match", "exp")], ids=str)
@pytest.mark.parametrize("place", ["/dev/null/cache", "/proc/cache", "file"])
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
        built.cache / "set" / "rows.old" / "rows": b"mine",
        built.cache / "other" / "rows": b"mine",
        built.cache / "other" / "last-123456789abc": b"mine",
        built.cache / "other" / "rows.1.tmp": b"mine",
        built.cache / ".git" / "config": b"mine",
    }
    for path, data in foreign.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (built.cache / "linked").symlink_to(outside)
    run = built.run("gc")
    assert run.status == 0, run.stderr
    assert {path: path.read_bytes() for path in foreign if path.exists()} == foreign
    assert (outside / "rows").read_text() == "not in the cache at all"
    assert built.run().ran == []


# ---- what belongs to others


def test_generated_files_do_not_go_over_templates(built: Project) -> None:
    templates = built.specs / "templates"
    before = files_in(templates)
    for place in (templates, built.specs / ".." / "set" / "templates"):
        run = built.run(generated=place)
        assert (run.status != 0, is_plain(run)) == (True, True), run.stderr
        assert files_in(templates) == before


def test_generated_files_do_not_go_over_templates_by_way_of_a_link(project: Project) -> None:
    before = files_in(project.specs / "templates")
    project.generated.symlink_to(project.specs / "templates")
    run = project.run()
    assert run.status != 0
    assert files_in(project.specs / "templates") == before


@pytest.mark.parametrize("name", ["derivatives.yaml", "templates/Functions.h", "RELEASE"])
@pytest.mark.parametrize("done", [False, True])
def test_a_stamp_does_not_go_over_an_input(built: Project, name: str, done: bool) -> None:
    path = built.specs / name
    before = path.read_bytes()
    if not done:
        built.set_formula("sin", "self", "grad * 2 * self.cos().conj()")
        before = path.read_bytes()
    run = built.run(stamp=path)
    assert (run.status != 0, is_plain(run)) == (True, True), run.stderr
    assert path.read_bytes() == before


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


@pytest.mark.parametrize("absolute", [False, True])
def test_two_sets_of_one_name_do_not_share_their_output(tmp_path: Path, small_specs: Path, absolute: bool) -> None:
    _two_sets_of_one_name(tmp_path, small_specs)
    one, two = (f"{tmp_path / name / 'set' if absolute else name + '/set'}" for name in ("one", "two"))
    gradmill = ["-m", "pipeline"]
    assert finish(elsewhere(*gradmill, f"specs={one}", cwd=tmp_path)).status == 0
    time.sleep(TICK)
    before = files_in(tmp_path / "generated" / "set")
    manifest = (tmp_path / "cache" / "set" / "manifest.json").read_bytes()
    run = finish(elsewhere(*gradmill, f"specs={two}", cwd=tmp_path))
    assert (run.status != 0, is_plain(run)) == (True, True), (run.stdout, run.stderr)
    assert files_in(tmp_path / "generated" / "set") == before
    assert (tmp_path / "cache" / "set" / "manifest.json").read_bytes() == manifest
    assert finish(elsewhere(*gradmill, f"specs={one}", cwd=tmp_path)).ran == []


def _gradmill_in(folder: Path, *words: object) -> Run:
    return Run(*forked.gradmill([str(word) for word in words], folder))


def test_two_sets_of_one_name_with_caches_of_their_own_do_not_share_their_output(
    tmp_path: Path, small_specs: Path
) -> None:
    _two_sets_of_one_name(tmp_path, small_specs)
    generated = tmp_path / "generated" / "set"
    assert _gradmill_in(tmp_path, "specs=one/set", "cache=c1").status == 0
    before = files_in(generated)
    for folder, more in ((tmp_path, []), (tmp_path / "two", [f"generated={generated}"])):
        run = _gradmill_in(folder, f"specs={tmp_path / 'two' / 'set'}", "cache=c2", *more)
        assert (run.status != 0, is_plain(run)) == (True, True), (run.stdout, run.stderr)
        assert files_in(generated) == before
    assert sorted(before) == sorted([*SHARDS, *KERNEL_FILES])
    assert _gradmill_in(tmp_path, "specs=one/set", "cache=c1").ran == []


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [*DAMAGES.values(), _make_folder], ids=[*DAMAGES, "a folder"])
def test_a_spoilt_note_of_who_owns_the_output_stops_nobody(
    tmp_path: Path, small_specs: Path, damage: Callable[[Path], object]
) -> None:
    shutil.copytree(small_specs, tmp_path / "set")
    assert _gradmill_in(tmp_path, "specs=set").status == 0
    damage(tmp_path / "generated" / ".owners")
    (tmp_path / "generated" / "set" / "Functions.h").unlink()
    run = _gradmill_in(tmp_path, "specs=set")
    assert (run.status, run.stderr, run.shards) == (0, "", ["Functions.h"])


@pytest.mark.parametrize("place", ["outputs", "set/set"])
def test_a_note_of_owners_that_is_damaged_names_nobody(built: Project, place: str) -> None:
    path = built.cache / place
    (owner,) = owners_in(path.read_bytes()).values()
    path.write_text(path.read_text().replace(owner, str(built.folder)))  # a folder that is there
    built.set_formula("mv", "self", "2 * grad.ger(vec.conj())")
    run = built.run()
    assert (run.status, run.shards) == (0, ["Functions.cpp"])
    assert list(owners_in(path.read_bytes()).values()) == [owner]


def test_a_set_may_have_the_output_of_one_that_is_gone(tmp_path: Path, small_specs: Path) -> None:
    _two_sets_of_one_name(tmp_path, small_specs)
    assert _gradmill_in(tmp_path, "specs=one/set", "cache=c1").status == 0
    shutil.rmtree(tmp_path / "one")
    assert _gradmill_in(tmp_path, "specs=two/set", "cache=c2").status == 0


def test_a_folder_of_output_that_is_named_gets_nothing_but_the_files(built: Project) -> None:
    place = built.folder / "place" / "set"
    assert built.run(generated=place).status == 0
    assert [path.name for path in place.parent.iterdir()] == ["set"]
    assert sorted(files_in(place)) == sorted(SHARDS)


# ---- reports


def test_a_warning_is_reported_by_every_run(built: Project) -> None:
    built.set_formula("exp", "self", "grad * slef")
    said = set()
    for words in ((), (), (), ("-n", "2"), ("match",), ()):
        run = built.run(*words)
        assert run.status == 0
        said.add(run.stderr)
    assert len(said) == 1
    assert "unknown name 'slef'" in said.pop()
    built.set_formula("sin", "self", "2 * grad * self.cos().conj()")
    assert "unknown name 'slef'" in built.run().stderr


def test_a_warning_is_a_mistake_for_a_strict_run_after_one_that_was_not(built: Project) -> None:
    built.set_formula("exp", "self", "grad * slef")
    for _ in range(2):
        time.sleep(TICK)
        assert built.run().status == 0
        assert built.run(strict=1).status == 1
    built.set_formula("exp", "self", "grad * self")
    assert built.run(strict=1).status == 0


@pytest.mark.parametrize("words", [("-c",), ("--continue",), ("-c", "-n", "2"), ("-n", "2"), ("-a",), ("-c", "shard")])
def test_a_mistake_is_reported_once_whatever_the_options(built: Project, words: tuple[str, ...]) -> None:
    files = built.files()
    built.replace("derivatives.yaml", "- name: exp(Tensor self) -> Tensor\n  self: ", SLEF.partition(" grad")[0] + " ")
    plain = built.run()
    assert plain.status == 1
    run = built.run(*words)
    assert run.status in (1, 2)  # doit's: with --continue, tasks whose inputs are missing count too
    assert run.stderr == plain.stderr
    assert built.files() == files


# ---- spec sets


def test_two_nodes_of_one_name_are_the_same_incrementally(built: Project) -> None:
    built.append(
        "native_functions.yaml",
        "- func: _foreach_exp.x(Tensor[] self, Scalar x) -> Tensor[]\n  device_check: NoCheck\n"
        "  dispatch:\n    CompositeExplicitAutograd: foreach_exp_x\n",
    )
    built.append(
        "derivatives.yaml", "- name: _foreach_exp.x(Tensor[] self, Scalar x) -> Tensor[]\n  self: mul(grads, self, x)\n"
    )
    built.build()
    assert_clean(built)
    for formula in ("mul(grads, self)", "mul(grads, x)", "mul(grads, self, x)"):
        built.set_formula("_foreach_exp.x", "self", formula)
        built.build()
        assert_clean(built)
        built.set_formula("exp", "self", f"{len(formula)} * grad * result.conj()")
        built.build()
        assert_clean(built)
    built.remove_entry("exp")
    built.build()
    assert_clean(built)


def test_a_view_without_any_derivative_is_built_and_edited(built: Project) -> None:
    built.replace(
        "derivatives.yaml",
        "- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n  self: grad.transpose(dim0, dim1)\n"
        "  result: auto_linear\n",
        "- name: transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n  dispatch: {}\n",
    )
    built.build()
    assert_clean(built)
    built.set_formula("exp", "self", "2 * grad * result.conj()")
    built.build()
    assert_clean(built)


@pytest.mark.parametrize("around", ["grad *|result", "grad|", "f(grad,|self)", "|grad"])
def test_twenty_thousand_spaces_in_a_formula_are_nothing_special(built: Project, around: str) -> None:
    built.set_formula("exp", "self", around.replace("|", " " * 20_000))
    built.build()
    assert_clean(built)


def test_a_node_does_not_run_for_a_forward_formula_that_it_does_not_print(tmp_path: Path) -> None:
    specs = read_specs(CORE)
    folder = tmp_path / "set"
    shutil.copytree(CORE, folder)
    place = Place(tmp_path)
    before = place.run(specs=folder).files
    row = re.compile(r"(?m)^(  (?:    )?result: )(.+)$")
    at = [i for i, entry in enumerate(specs.derivatives) if row.search(entry)]
    ran = {}
    for i in Random(0).sample(at, 40):
        edited = specs.copy()
        edited.derivatives[i] = row.sub(_other_formula, specs.derivatives[i], count=1)
        edited.write(folder)
        made = place.run(specs=folder)
        if made.outcome.status:
            continue  # a formula that names what is not there
        same = all(before[name] == made.files[name] for name in before)
        units = [task for task in made.outcome.ran if task.startswith(("emit:", "shard:"))]
        if same and units:
            ran[specs.derivatives[i].partition("\n")[0]] = units
        before = made.files
    assert ran == {}


def _other_formula(found: re.Match[str]) -> str:
    return found[1] + ("self_t" if found[2].startswith("auto_") else f"({found[2]}) * 1")


def test_release_is_that_of_the_release_file_or_refused(built: Project) -> None:
    run = built.run(release="2.9.1")
    assert (run.status != 0, is_plain(run)) == (True, True)
    assert f"release=2.9.1, but {built.specs / 'RELEASE'} says that the spec set is for {RELEASE}" in run.stderr
    assert built.run(release=RELEASE).ran == []


@pytest.mark.parametrize("text", [f"{RELEASE}\n2.9.1\n", f"{RELEASE}\n# of last week\n", "\n\n2.9.1\nx"])
def test_a_release_file_of_several_lines_is_refused(built: Project, text: str) -> None:
    (built.specs / "RELEASE").write_text(text)
    for words in ((), ("show", "specs"), ("explain",)):
        run = built.run(*words)
        assert (run.status != 0, is_plain(run)) == (True, True), run.stderr
        assert "RELEASE" in run.stderr


def test_an_encrypted_wheel_is_refused(project: Project) -> None:
    wheel = project.folder / "torch-2.13.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, place in (
            ("native_functions.yaml", "ATen/native/native_functions.yaml"),
            ("tags.yaml", "ATen/native/tags.yaml"),
            ("derivatives.yaml", "autograd/derivatives.yaml"),
        ):
            archive.writestr(f"torchgen/packaged/{place}", project.path(name).read_text())
        for name in files_in(project.specs / "templates"):
            archive.write(project.specs / "templates" / name, f"torchgen/packaged/autograd/templates/{name}")
        archive.writestr("torch/version.py", f"__version__ = '{RELEASE}'\n")
    assert project.run(specs=wheel).status == 0
    data = bytearray(wheel.read_bytes())
    for mark, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + flag] |= 1
            at = data.find(mark, at + 4)
    wheel.write_bytes(bytes(data))
    for words in ((), ("show", "specs"), ("explain",)):
        run = project.run(*words, specs=wheel)
        assert (run.status != 0, is_plain(run)) == (True, True), run.stderr
        assert "encrypted" in run.stderr


@pytest.mark.parametrize("what", ["fifo", "zero", "folder"])
@pytest.mark.parametrize("name", ["derivatives.yaml", "native_functions.yaml", "tags.yaml", "templates/Functions.h"])
def test_what_is_no_file_is_refused_as_a_spec(built: Project, name: str, what: str) -> None:
    files = built.files()
    path = built.specs / name
    path.unlink()
    if what == "fifo":
        os.mkfifo(path)
    elif what == "zero":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    run = built.run()
    assert run.status != 0
    assert "Traceback" not in run.stderr
    assert path.name in run.stderr
    assert built.files() == files


# ---- the command line


def test_explain_of_a_node_needs_no_build(project: Project) -> None:
    for words in (("explain", "ExpBackward0"), ("explain", "exp"), ("explain", "Functions.h"), ("explain",)):
        run = project.run(*words)
        assert (run.status, run.stderr) == (0, "")
        assert run.stdout
        assert not project.generated.exists()
    assert_clean(project.build())


@pytest.mark.parametrize("name", ["Functions.h", "Functions_common.h", "Functions_0.cpp"])
@pytest.mark.parametrize("was", ["nothing", "upstream", "split"])
def test_explain_of_a_file_knows_the_layout(project: Project, name: str, was: str) -> None:
    if was != "nothing":
        project.build(layout=was)
    run = project.run("explain", name, layout="split")
    assert (run.status, run.stderr) == (0, "")
    assert name in run.stdout
    if name != "Functions.h":
        run = project.run("explain", name)
        assert (run.status != 0, is_plain(run)) == (True, True)


@pytest.mark.parametrize("command", ["doit", "gradmill"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["exlpain"], "explain"),
        (["shwo", "match"], "show"),
        (["--specs", "torch"], "--specs"),
        (["--specs=torch"], "--specs"),
        (["explain", "--release", "2.9"], "release=2.9"),
        (["spces=core"], "specs"),
        (["emit:ExpBackwrd0"], "ExpBackward0"),
        (["shard:Function.h"], "Functions.h"),
    ],
)
def test_a_slip_of_the_fingers_gets_a_plain_error(project: Project, command: str, words: list[str], said: str) -> None:
    run = project.run(*words) if command == "doit" else project.gradmill(*words)
    assert run.status not in (0, 1), run.stdout
    assert is_plain(run), run.stderr
    assert said in run.stderr


@pytest.mark.parametrize("options", [["-f", ROOT / "dodo.py"], ["-f", ROOT / "dodo.py", "-d", ROOT], ["-d", ROOT]])
def test_doit_may_be_started_from_elsewhere(project: Project, options: list[object]) -> None:
    if options == ["-d", ROOT]:
        options = ["-f", ROOT / "dodo.py", "-d", project.folder]
    values = [f"{name}={getattr(project, name)}" for name in ("specs", "cache", "generated")]
    for words in ([], ["list"], ["list", "--all"]):
        run = finish(elsewhere("-m", "doit", *words, *options, *values, cwd=project.folder))
        assert (run.status, run.stderr) == (0, ""), words
    assert_clean(project)
    assert finish(elsewhere("-m", "doit", *options, *values, cwd=project.folder)).ran == []


def test_an_entry_may_not_be_called_as_the_list_of_all_entries(built: Project) -> None:
    path = built.path("derivatives.yaml")
    text = path.read_text()
    odd = '- name: "\\0"\n  self: grad\n'
    for tail in (odd, f"{odd}\n{odd}", odd):
        path.write_text(f"{text}\n{tail}")
        run = built.run()
        assert run.status == 1
        assert run.stderr.count("derivatives.yaml:") == tail.count("name"), run.stderr
    path.write_text(text)
    assert built.run().status == 0
    assert built.files() == built.clean_build()


def test_code_that_changes_while_the_specs_are_read_ends_the_run(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = Build(read_config({name: str(getattr(built, name)) for name in ("specs", "cache", "generated")}))
    source = build.inputs.code.paths()[0]
    read = Location.read

    def read_late(self: Location) -> bytes:
        build.inputs.code.stats[source] = None  # what was there before is not what is there now
        return read(self)

    monkeypatch.setattr(Location, "read", read_late)
    with pytest.raises(CodeChanged):
        build.inputs.take({})


def test_a_folder_that_is_spelt_otherwise_is_the_same_folder(built: Project) -> None:
    otherwise = {"generated": "generated", "cache": "cache"}
    assert built.gradmill(**otherwise).ran == ["manifest"]  # depfiles have paths as they were given
    assert built.gradmill(**otherwise).ran == []
    built.set_formula("mv", "self", "2 * grad.ger(vec.conj())")
    assert built.gradmill(**otherwise).shards == ["Functions.cpp"]
    os.truncate(built.generated / "Functions.cpp", 10)  # nothing in it says any more that it is generated
    assert built.gradmill().shards == ["Functions.cpp"]
    assert_clean(built)


SLOW = pytest.mark.slow


@pytest.mark.parametrize("words", [[], ["-n", "2"]], ids=["one process", "two processes"])
@pytest.mark.parametrize("line", [1, pytest.param(3, marks=SLOW), 7, pytest.param(8, marks=SLOW)])
@pytest.mark.parametrize("command", ["doit", "gradmill"])
def test_ctrl_c_ends_a_run_without_a_traceback(
    core_project: Project, command: str, line: int, words: list[str]
) -> None:
    values = [f"{name}={getattr(core_project, name)}" for name in ("specs", "cache", "generated")]
    start = ["pipeline", "run", "-v2"] if command == "gradmill" else ["doit", "run", "-f", ROOT / "dodo.py"]
    process = elsewhere("-m", *start, *words, *values, cwd=core_project.folder, group=True)
    assert process.stdout is not None
    for _ in range(line):
        process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    ended = finish(process)
    assert "Traceback" not in ended.stderr + ended.stdout, ended.stderr[-2000:]
    assert ended.status != 0 or ended.ran[-1:] == ["manifest"]
    again = core_project.run()
    assert again.status == 0
    assert_clean(core_project)


@pytest.mark.parametrize("at", ["util._close_stdin", "util._exit_function", "process.BaseProcess.start"])
def test_ctrl_c_while_a_worker_begins_or_ends_is_neither_a_traceback_nor_a_wait(project: Project, at: str) -> None:
    """A worker sends it to all, as a terminal does; the first to start one sends it to itself."""
    program = f"""
import os, signal
from multiprocessing import process, util
from pipeline.front.start.command import run
own, work = os.getpid(), {at}
def interrupt(*words):
    if os.getpid() != own:
        os.killpg(0, signal.SIGINT)
    work(*words)
    if work.__name__ == "start":
        os.kill(own, signal.SIGINT)
{at} = interrupt
run()
"""
    values = [f"{name}={getattr(project, name)}" for name in ("specs", "cache", "generated")]
    process = elsewhere("-c", program, "-n", "2", *values, cwd=project.folder, group=True)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert "Traceback" not in err + out, err[-2000:]
    assert err in ("interrupted: what was written is whole\n", "")  # two workers send it: the second ends all at once
    assert process.returncode == -signal.SIGINT


def test_ctrl_c_in_a_callback_ends_the_process_without_a_traceback() -> None:
    """As right after a fork: Python would say that it is ignored."""
    program = """
from pipeline.front.start.main import prepare
prepare()
class Late:
    def __del__(self):
        raise KeyboardInterrupt
Late()
print("went on")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "")
    assert done.stderr == "interrupted: what was written is whole\n"


# ---- what is remembered


def test_what_is_forgotten_runs_again(built: Project) -> None:
    assert built.run("forget", "match").status == 0
    assert built.run().ran == ["match"]
    assert built.run("forget", "emit:ExpBackward0").status == 0
    assert built.run().units == ["ExpBackward0"]
    assert built.run("forget").status == 0
    units = built.run().units
    assert sorted(units) == sorted(built.units())
    assert built.run().ran == []
    assert_clean(built)


def _start_gradmill(project: Project, *words: str) -> subprocess.Popen[str]:
    values = [f"{name}={getattr(project, name)}" for name in ("specs", "cache", "generated")]
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline", *words, *values],
        cwd=project.folder,
        env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": str(project.root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _gradmill(project: Project) -> Run:
    return finish(_start_gradmill(project))


def test_two_gradmills_on_one_cache_make_their_own_files(own_code: Project) -> None:
    """An update in a new environment, two checkouts: neither takes the last run of the other for its own."""
    other = copy.copy(own_code)
    other.root = own_code.folder / "other"
    shutil.copytree(own_code.root, other.root)
    path = other.root / "pipeline" / "stages" / "shard.py"
    path.write_text(path.read_text().replace(JOINED, f'{JOINED} + b"// the other\\n"'))
    time.sleep(0.05)
    for _ in range(2):
        assert _gradmill(own_code).status == 0
        assert not any(data.endswith(b"// the other\n") for data in own_code.files().values())
        assert _gradmill(other).status == 0
        assert all(data.endswith(b"// the other\n") for data in own_code.files().values())
    assert _gradmill(other).ran == []


def test_bytecode_of_an_older_text_is_not_taken_for_that_of_the_new_one(own_code: Project) -> None:
    """Python takes bytecode for a text's own when size and second agree."""
    path = own_code.root / "pipeline" / "stages" / "shard.py"
    text = path.read_text()
    assert text.count(JOINED) == 1
    second = time.time() // 1

    def write(mark: str) -> None:
        path.write_text(text.replace(JOINED, f'{JOINED} + b"// {mark}\\n"'))
        os.utime(path, (second, second))
        time.sleep(0.05)

    write("one")
    assert _gradmill(own_code).status == 0
    assert Path(cache_from_source(str(path))).exists()
    assert all(data.endswith(b"// one\n") for data in own_code.files().values())
    for mark in ("two", "one", "six"):
        write(mark)
        run = _gradmill(own_code)
        if run.status:
            assert run.stderr == "gradmill's own code changed while it ran: run again\n"
            assert _gradmill(own_code).status == 0
        assert all(data.endswith(f"// {mark}\n".encode()) for data in own_code.files().values())


def test_a_run_under_code_that_changes_while_it_starts_ends_in_one_line(own_code: Project) -> None:
    assert _gradmill(own_code).status == 0
    process = _start_gradmill(own_code)
    while process.poll() is None:
        (own_code.root / "pipeline" / "stages" / "shard.py").touch()
        time.sleep(0.002)
    run = finish(process)
    assert run.status != 0
    assert run.stderr == "gradmill's own code changed while it ran: run again\n"
    time.sleep(0.05)
    assert _gradmill(own_code).ran == []


# As a module is looked for, another text takes the place of a file; as another one is, the file's own text does.
_EDITS = """
import os, sys
EDITED, TEXTS, WHEN = {edited!r}, {texts!r}, {when!r}

class Edits:
    def find_spec(self, name, path=None, target=None):
        if name in WHEN:
            with open(EDITED + ".new", "w") as file:
                file.write(TEXTS[WHEN.index(name)])
            os.replace(EDITED + ".new", EDITED)

sys.meta_path.insert(0, Edits())
"""


_PRINTING, _PRINTED, _WRITING = (
    "pipeline.families.nodes.plan",
    "pipeline.families.nodes.text",  # what reads the edited text is there by then
    "pipeline.front.run.places",
)


@pytest.mark.parametrize(
    ("words", "when"),
    [
        (("run",), [_PRINTING]),
        (("run",), [_PRINTING, _PRINTED]),
        (("run", "--continue"), [_PRINTING]),
        (("run", "--continue"), ["pipeline.stages.manifest"]),
        (("run", "-n2"), [_PRINTING, _PRINTED]),
        (("check",), [_PRINTING]),
        (("explain",), [_PRINTING]),
    ],
    ids=str,
)
def test_code_that_changes_before_it_is_loaded_makes_no_file(
    own_code: Project, words: tuple[str, ...], when: list[str]
) -> None:
    """What prints Nodes is loaded when one is printed: by then its text may be another one than the run began with."""
    run = _edited_when(own_code, when, words)
    assert run.status != 0
    assert run.stderr.endswith("gradmill's own code changed while it ran: run again\n")
    assert "Traceback" not in run.stderr
    assert own_code.files() == {}
    time.sleep(0.05)
    assert _gradmill(own_code).status == 0
    assert _is_edited(own_code) == (len(when) == 1)


def test_code_that_changes_after_it_was_loaded_is_the_next_runs_business(own_code: Project) -> None:
    run = _edited_when(own_code, [_WRITING], ("run",))
    assert (run.status, run.stderr) == (0, "")
    assert not _is_edited(own_code)
    time.sleep(0.05)
    assert "python_functions_0.cpp" in _gradmill(own_code).shards
    assert _is_edited(own_code)


def _is_edited(project: Project) -> bool:
    return any(b"// as edited" in data for data in project.files().values())


def _edited_when(own_code: Project, when: list[str], words: tuple[str, ...]) -> Run:
    """A run in which the text that prints Nodes changes when a module is looked for, and back when another one is."""
    path = own_code.root / "pipeline" / "families" / "nodes" / "python.cpp"
    own, sign = path.read_text(), "${node}_properties);"
    assert own.count(sign) == 1
    texts = [own.replace(sign, f"{sign} // as edited"), own]
    hook = own_code.root / "sitecustomize.py"
    hook.write_text(_EDITS.format(edited=str(path), texts=texts, when=when))
    run = finish(_start_gradmill(own_code, *words))
    assert path.read_text() == texts[len(when) - 1]
    hook.unlink()
    return run


def test_code_is_read_as_it_is_taken(own_code: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read later of a file is what was there when the inputs were taken, or an error."""
    monkeypatch.setattr("pipeline.front.run.own_code.PACKAGE", str(own_code.root / "pipeline"))
    monkeypatch.setattr("pipeline.front.run.own_code.STARTED", time.time_ns())
    build = Build(read_config({name: str(getattr(own_code, name)) for name in ("specs", "cache", "generated")}))
    taken = build.inputs.take({})
    path = own_code.root / "pipeline" / "stages" / "shard.py"
    old = path.read_bytes()
    path.write_bytes(old + b"# other\n")
    source = taken["code/pipeline/stages/shard.py"]
    assert source.digest == Input(old).digest
    assert source.read() == old
    with pytest.raises(CodeChanged):
        source.read()
    path.write_bytes(old)
    assert source.read() == old


# ---- what is refused upstream


def _few(project: Project, derivatives: str) -> Project:
    """A set of three operators."""
    project.path("native_functions.yaml").write_text(
        "- func: mv(Tensor self, Tensor vec) -> Tensor\n  dispatch:\n    CPU: mv\n\n"
        "- func: cos(Tensor self) -> Tensor\n  dispatch:\n    CPU: cos\n"
    )
    project.path("derivatives.yaml").write_text(derivatives)
    return project


def test_an_empty_condition_of_differentiability_is_printed_as_torchgen_prints_it(
    core_project: Project, tmp_path: Path
) -> None:
    condition = "- name: cos(Tensor self) -> Tensor\n  output_differentiability: ['']\n  self: grad\n  result: self_t\n"
    project = _few(core_project, condition).build()
    assert project.files() == project.by_torchgen(tmp_path / "oracle")


_OF_A_KEY = "- name: mv(Tensor self, Tensor vec) -> Tensor\n  dispatch:\n    AutogradCUDA:\n      self: grad\n"


@pytest.mark.parametrize("derivatives", [_OF_A_KEY, pytest.param("[]\n", marks=SLOW)], ids=["of another key", "none"])
def test_kernels_that_have_no_place_are_not_left_out_in_silence(
    core_project: Project, tmp_path: Path, derivatives: str
) -> None:
    project = _few(core_project, derivatives)
    with pytest.raises(subprocess.CalledProcessError):
        project.by_torchgen(tmp_path / "oracle")
    run = project.run()
    assert run.status == 1
    assert "derivatives.yaml: error: " in run.stderr and "no derivatives are for Default" in run.stderr
    assert not [path for path in project.generated.rglob("*") if path.is_file()]
    assert project.run(families="nodes").status == 0
    _few(core_project, f"{derivatives.strip('[]')}\n- name: cos(Tensor self) -> Tensor\n  self: grad\n")
    assert project.run().status == 0


def test_a_type_that_cpp_has_not_is_not_blamed_on_derivatives(kernels_built: Project, tmp_path: Path) -> None:
    project = copy_of(kernels_built, tmp_path)
    project.append("native_functions.yaml", "- func: odd(Tensor self, GraphModule g) -> Tensor")
    run = project.run(families="trace_type")
    assert run.status == 1
    assert "type 'GraphModule' has no C++ equivalent, and generated code has to name it" in run.stderr


# ---- a template that goes while files of another layout lie in its place


def test_files_of_a_template_that_is_gone_do_not_stay_whatever_layout_they_have(
    kernels_built: Project, tmp_path: Path
) -> None:
    project = copy_of(kernels_built, tmp_path)
    template = project.path("templates/TraceType.cpp")
    text = template.read_text()
    project.build(layout="split", shards=2)
    template.unlink()
    project.build()
    assert [name for name in project.files() if "TraceType" in name] == []
    template.write_text(text)
    project.build()
    project.build(layout="split", shards=2)
    by_hand = project.generated / "TraceType_0.cpp"
    by_hand.write_text(f"{by_hand.read_text()}// by hand\n")
    template.unlink()
    project.build()
    assert [name for name in project.files() if "TraceType" in name] == ["TraceType_0.cpp"]


# ---- Ctrl-C before there is anything to end


def test_ctrl_c_while_doit_is_loaded_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pipeline.front.start import command, lazy

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lazy, "import_lazily", interrupted)
    assert command.main([]) == 130
    assert capsys.readouterr() == ("", "interrupted: what was written is whole\n")
