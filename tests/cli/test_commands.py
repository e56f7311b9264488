"""Commands: explain, gc, watch, export, schema; the manifest, the depfiles and the stamp."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from copies import copy_of
from project import ROOT, Project, is_plain
from watching import Watching

from gradmill.cli.commands import watch
from gradmill.families.rows import TEMPLATES
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config

PACKAGE = ROOT / "pipeline" / "gradmill"
EXP = "self: grad * result.conj()"

EDITS: dict[str, Callable[[Project], None]] = {
    "formula": lambda p: p.set_formula("exp", "self", "result.conj() * grad"),
    "saved input": lambda p: p.set_formula("exp", "self", "grad * self.exp().conj()"),
    "comment": lambda p: p.append("derivatives.yaml", "# a comment"),
    "entry removed": lambda p: p.remove_entry("exp"),
    "template": lambda p: p.replace("templates/Functions.h", "#pragma once", "// a line\n#pragma once"),
}


def changed_files(project: Project, before: dict[str, int]) -> set[str]:
    """Files that were written since."""
    now = project.mtimes()
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


@pytest.mark.parametrize("edit", EDITS)
def test_explain_names_the_files_that_a_run_then_writes(built: Project, edit: str) -> None:
    before = built.mtimes()
    EDITS[edit](built)
    printed = built.run("explain").ok()
    assert built.mtimes() == before
    assert built.run().status == 0
    changed = changed_files(built, before)
    assert changed == {name for name in before if name in printed.stdout.replace(",", " ").split()}
    again = built.run("explain")
    assert all(name not in again.stdout for name in before)


@pytest.mark.parametrize(
    ("name", "fresh", "stale"),
    [
        ("ExpBackward0", "up to date", "to be rebuilt: derivatives.yaml:"),
        ("MulBackward0", "up to date", "up to date"),
        ("Functions.cpp", "up to date", "ExpBackward0, ForeachExpBackward0"),
        ("Functions.h", "up to date", "up to date"),
        ("derivatives", "up to date", "to be rebuilt"),
        ("schemas", "up to date", "up to date"),
        ("emit", "up to date", " exp changed; ExpBackward0, ForeachExpBackward0"),
        ("shard", "up to date", " exp changed; Functions.cpp"),
        ("manifest", "up to date", " exp changed"),
    ],
)
def test_explain_shows_whether_one_thing_is_up_to_date_and_why_not(
    built: Project, name: str, fresh: str, stale: str
) -> None:
    assert fresh in built.run("explain", name).stdout
    built.set_formula("exp", "self", "result.conj() * grad")
    assert stale in built.run("explain", name).stdout


def test_explain_names_what_is_near_an_unknown_name(built: Project) -> None:
    built.run("explain", "ExpBackwards0").failed("ExpBackward0")
    built.run("explain", "torch.exq").failed("did you mean 'exp'?")


@pytest.mark.parametrize(
    ("names", "own"),
    [
        (["torch.exp", "torch.Tensor.exp", "aten::exp", "aten.exp.default", "torch.ops.aten.exp", "at::exp"], "exp"),
        (["aten::mul.Tensor", "aten.mul.Tensor", "torch.ops.aten.mul.Tensor"], "mul.Tensor"),
    ],
)
def test_an_operator_is_known_by_the_names_that_pytorch_prints(built: Project, names: list[str], own: str) -> None:
    explained, shown = built.run("explain", own).clean(), built.run("show", "match", own).clean()
    assert explained.stdout.startswith(f"{own}(")
    for name in names:
        assert built.run("explain", name).clean() == explained
        assert built.run("show", "match", name).clean() == shown


def test_no_line_of_an_explanation_lists_hundreds_of_names(small_built: Project, tmp_path: Path) -> None:
    """A set that was never built has as many files as are generated; one release after another changes all entries."""
    built = copy_of(small_built, tmp_path)
    places = {"cache": built.folder / "never", "layout": "split", "shards": 40}
    (edit,) = built.run("explain", **places).clean().stdout.splitlines()
    assert edit.startswith("never built → ") and edit.endswith(" files")
    path = built.path("derivatives.yaml")
    path.write_text(re.sub(r"\bgrad\b", "(grad)", path.read_text()))
    lines = built.run("explain", "match", "emit", "shard", "manifest").ok().stdout.splitlines()
    rebuilt = [line for line in lines if line.startswith("  to be rebuilt: ")]
    assert len(rebuilt) == 4 and all(line.count("; ") <= 21 for line in rebuilt)
    assert " more" in rebuilt[0]


def _files(project: Project) -> dict[str, tuple[int, int]]:
    """All files that gradmill made: inode and time of change."""
    result = [path for folder in (project.cache, project.generated) for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in result}


def test_explain_keeps_nothing_so_that_the_run_does_what_was_explained(built: Project) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    built.run("explain")  # which verifies the rows, as they were copied
    before = _files(built)
    first, again = built.run("explain"), built.run("explain")
    assert first == again
    assert _files(built) == before
    assert "emit:ExpBackward0" in built.run().ran


def test_explain_leads_from_an_added_entry_to_its_new_units(built: Project) -> None:
    """Not from the fact that they are new."""
    function = "- func: added(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: added\n"
    for name, text in (
        ("native_functions", function),
        ("derivatives", "- name: added(Tensor self) -> Tensor\n  self: grad\n"),
    ):
        path = built.path(f"{name}.yaml")
        path.write_text(f"{path.read_text().rstrip()}\n\n{text}")
    native, derivatives = built.run("explain").stdout.splitlines()
    assert native.startswith("native_functions.yaml:") and " added → AddedBackward0 → Functions.h, " in native
    assert derivatives.startswith("derivatives.yaml:") and " added → AddedBackward0 → Functions.h, " in derivatives
    assert "AddedBackward0: never built" in built.run("explain", "added").stdout


def test_explain_works_before_the_first_build(project: Project) -> None:
    for layout, names in (("upstream", ["ExpBackward0", "Functions.cpp", "match"]), ("split", ["Functions.h"])):
        for name in names:
            run = project.run("explain", name, layout=layout).clean()
            assert "never built" in run.stdout
    assert project.run("explain").stdout.startswith("never built → ")
    assert _files(project) == {}


def test_explain_puts_files_that_were_touched_in_one_line(built: Project) -> None:
    (built.generated / "Functions.cpp").unlink()
    assert built.run("explain").stdout == "its output was changed or removed → Functions.cpp\n"


def test_gc_deletes_the_stores_of_other_code_and_nothing_else(built: Project) -> None:
    (built.cache / "mine").mkdir()
    (built.cache / "mine" / built.rows.name).write_bytes(b"a file that gradmill did not make")
    others = [built.rows.with_name(f"rows-{number}123456789abcdef") for number in range(3)]
    for path in others:
        shutil.copy(built.rows, path)
    run = built.run("gc").ok()
    left, done = run.stdout.splitlines()
    assert left == "mine: no spec set is noted as its owner: left as it is"
    assert done.startswith("removed 3 stores and verdicts (")
    assert not any(path.exists() for path in others)
    assert (built.cache / "mine" / built.rows.name).read_bytes() == b"a file that gradmill did not make"
    assert built.run().ran == []
    built.path("derivatives.yaml").touch()
    assert built.run().ran == []
    assert built.files() == built.clean_build()


@pytest.fixture
def watching(built: Project) -> Iterator[Watching]:
    result = Watching(built)
    yield result
    if result.process.poll() is None:
        result.process.kill()
        result.process.wait()


def test_watch_ends_quietly_in_a_callback_of_a_pass(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    def interrupted(*_: object, **__: object) -> None:
        thing = set[str]()
        known = weakref.ref(thing, interrupt)
        del thing
        raise AssertionError(known)

    monkeypatch.setattr(watch._Watch, "_pass", interrupted)
    built.run_patched("watch").clean()


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_watch_ends_quietly_in_the_middle_of_a_pass(built: Project, watching: Watching, delay: float) -> None:
    watching.wait_for("watching")
    built.set_formula("exp", "self", "result.conj() * grad")
    time.sleep(delay)
    assert watching.stop() == 0, watching.rest()
    assert "Traceback" not in watching.rest()
    built.build()
    assert built.files() == built.clean_build()


def test_watch_ends_quietly_while_it_restarts(built: Project, watching: Watching) -> None:
    watching.wait_for("watching")
    (built.specs / "RELEASE").write_text("2.12.0\n")
    watching.wait_for("the description or the release of the spec set changed: restarting")
    time.sleep(0.03)  # another session is being opened
    assert (watching.stop(), watching.rest()) == (0, "")


@pytest.mark.slow
def test_watch_ends_when_its_own_code_has_changed(own_code: Project) -> None:
    own_code.build()
    watching = Watching(own_code)
    watching.wait_for("watching")
    path = own_code.root / "pipeline" / "gradmill" / "stages" / "shard.py"
    path.write_text(f"{path.read_text()}\n")
    own_code.set_formula("exp", "self", "result.conj() * grad")
    watching.wait_for("gradmill's own code changed while it ran: run again")
    assert watching.process.wait(60) == 3


def test_watch_brings_files_up_to_date_and_survives_errors(built: Project, watching: Watching) -> None:
    watching.wait_for("watching")
    built.set_formula("exp", "self", "result.conj() * grad")
    assert "ExpBackward0, ForeachExpBackward0 → Functions.cpp" in watching.wait_for(" ms: ")
    assert built.files() == built.clean_build()

    before = built.files()
    built.set_formula("exp", "self", "grad * result.sizes()")
    watching.wait_for("1 error")
    assert built.files() == before

    built.set_formula("exp", "self", "grad * result.conj() * 1")
    watching.wait_for(" ms: ")
    assert built.files() == built.clean_build()

    watching.wait_until_kept(built)
    assert watching.stop() == 0
    assert built.run().ran == []


def test_watch_sees_a_release_go_and_another_come(built: Project, watching: Watching) -> None:
    watching.wait_for("watching")
    (built.specs / "RELEASE").unlink()
    watching.wait_for("the spec set does not name its PyTorch release")
    (built.specs / "RELEASE").write_text("2.12.0\n")
    watching.wait_for("the description or the release of the spec set changed: restarting")
    watching.wait_for("watching")
    assert built.files() == built.clean_build()
    built.set_formula("exp", "self", "result.conj() * grad")
    watching.wait_for("ExpBackward0")
    assert built.files() == built.clean_build()


def test_a_save_that_the_watcher_misses_is_seen_all_the_same(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def events(session: Session) -> Iterator[list[str]]:
        yield []  # the watcher is there
        built.set_formula("exp", "self", "result.conj() * grad")
        yield []  # and says that nothing happened

    monkeypatch.setattr(watch, "_events", events)
    variables = built.values
    watch._Watch(Session.open(read_config(variables), writes=True), variables)._watch()
    assert built.files() == built.clean_build()
    assert b"result.conj() * grad" in built.files()["Functions.cpp"]


def test_the_ninja_file_is_one_rule_and_what_follows_goes_by_the_files_that_changed(project: Project) -> None:
    if shutil.which("ninja") is None:
        pytest.skip("Ninja is not installed: apt install ninja-build, or pip install ninja")
    exported = project.run("export", "ninja").ok()
    assert exported.stdout == project.run("export", "ninja").stdout
    file = project.cache.parent / "build.ninja"
    file.write_text(exported.stdout)
    copied = "".join(f"build {name}.copy: copy {project.generated / name}\n" for name in project.clean_build())
    rule = "rule copy\n  command = cp $in $out\n  description = copy $out\n"
    (file.parent / "top.ninja").write_text(f"include build.ninja\n{rule}{copied}build all: phony")
    with (file.parent / "top.ninja").open("a") as top:
        top.write("".join(f" {name}.copy" for name in project.clean_build()) + "\n")

    def ninja() -> list[str]:
        """What ran."""
        command = ["ninja", "-f", "top.ninja", "all"]
        done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return [line.partition("] ")[2] for line in done.stdout.splitlines() if "] " in line]

    assert len(ninja()) == 1 + len(project.files())
    assert project.files() == project.clean_build()
    assert ninja() == []
    assert not (file.parent / ".ninja_log").exists()
    project.set_formula("exp", "self", "result.conj() * grad")
    assert ninja() == ["gradmill", "copy Functions.cpp.copy"]
    assert project.files() == project.clean_build()
    assert ninja() == []
    project.append("derivatives.yaml", "# A comment.")
    assert ninja() == ["gradmill"]
    (project.generated / "Functions.h").unlink()
    assert ninja()[0] == "gradmill"
    assert project.files() == project.clean_build()
    assert ninja() == []


def test_ninja_runs_once_where_files_of_another_layout_were_there(built: Project) -> None:
    if shutil.which("ninja") is None:
        pytest.skip("Ninja is not installed: apt install ninja-build, or pip install ninja")
    file = built.folder / "build.ninja"
    file.write_text(built.run("export", "ninja", layout="split", shards=2).stdout)

    def ninja() -> str:
        return subprocess.run(["ninja"], cwd=file.parent, capture_output=True, text=True, check=True).stdout

    assert ".  manifest" in ninja()
    assert ninja() == "ninja: no work to do.\n"


def test_the_manifest_says_what_is_there(built: Project) -> None:
    manifest = json.loads(built.manifest())
    files = {file["path"]: file for file in manifest["files"]}
    assert files.keys() == built.files().keys()
    for name, data in built.files().items():
        assert files[name]["size"] == len(data)
        assert files[name]["sha256"] == hashlib.sha256(data).hexdigest()
        assert files[name]["inputs"]
    entry = next(unit for unit in manifest["units"] if unit["unit"] == "ExpBackward0")
    lines = built.path("derivatives.yaml").read_text().splitlines()
    assert lines[entry["line"] - 1].startswith("- name: exp(")
    assert str(built.specs.parent) not in built.manifest().decode()
    declared = re.findall(r"^struct TORCH_API (\w+) : ", built.files()["Functions.h"].decode(), re.MULTILINE)
    assert declared
    assert {unit["unit"] for unit in manifest["units"] if unit["family"] == "nodes"} == set(declared)


def test_a_comment_moves_lines_in_the_manifest_and_rebuilds_nothing_else_of_it(built: Project) -> None:
    from gradmill.session.session import Session
    from gradmill.session.settings.config import read_config
    from gradmill.stages.manifest import unit_facts, unit_list

    before = {(unit["family"], unit["unit"]): unit for unit in json.loads(built.manifest())["units"]}
    path = built.path("derivatives.yaml")
    path.write_text(f"# A comment.\n{path.read_text()}")
    build = Session.open(read_config(built.values))
    unit_list(build.db)
    ran = {name[0] for name in build.db.ran}
    build.close()
    assert unit_list.name in ran and unit_facts.name not in ran
    assert built.run().ran == ["specs", "manifest"]
    after = {(unit["family"], unit["unit"]): unit for unit in json.loads(built.manifest())["units"]}
    lines = {at: unit["line"] + (unit["file"] == "derivatives.yaml") for at, unit in before.items()}
    assert after == {at: {**unit, "line": lines[at]} for at, unit in before.items()}
    assert built.manifest() == built.clean_manifest()


def test_an_edited_formula_leaves_the_list_of_units(built: Project) -> None:
    units = built.rows.with_name("units.json")
    before = units.stat()
    built.set_formula("exp", "self", "result.conj() * grad")
    assert built.run().shards == ["Functions.cpp"]
    assert units.stat() == before
    built.path("derivatives.yaml").write_text("# a comment\n" + built.path("derivatives.yaml").read_text())
    assert built.run().ran == ["specs", "manifest"]
    assert units.stat() != before


@pytest.mark.parametrize("layout", ["upstream", "split"])
def test_depfiles_name_every_input(project: Project, layout: str) -> None:
    assert project.run(layout=layout).status == 0
    actual = sorted(project.cache.rglob("*.d")) + sorted(project.generated.glob("*.d"))
    assert len(actual) == (1 if layout == "upstream" else 1 + len(json.loads(project.manifest())["files"]))
    files = {path for path in project.specs.rglob("*") if path.is_file()}
    specs = {path for path in files if path.parent.name != "templates" or path.name in TEMPLATES.main}
    code = {path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".cpp")}
    for depfile in actual:
        target, _, rest = depfile.read_text().partition(":")
        named = {Path(word) for word in rest.replace("\\\n", " ").split()}
        assert named >= specs | {path for path in code if "commands" not in path.parts}
        assert Path(target) == depfile.with_suffix("")


def test_explain_and_show_take_patterns(built: Project) -> None:
    for pattern, names in {
        "emit:Exp*": ["ExpBackward0"],
        "shard:python_functions_[01]*": ["python_functions_0.cpp", "python_functions_1.cpp"],
        "Functions.*": ["Functions.h", "Functions.cpp"],
        "*infos": ["infos"],
    }.items():
        run = built.run("explain", pattern).ok()
        assert [line.partition(": ")[0] for line in run.stdout.splitlines() if line[0] != " "] == names
    assert [row["op"] for row in built.run("show", "infos", "ex[p]*").rows] == ["ExpBackward0"]
    for words in (("explain", "Exq*"), ("show", "infos", "exq*")):
        refused = built.run(*words)
        assert refused.status == 3
        assert f"'{words[-1]}'" in refused.stderr and "Traceback" not in refused.stderr


@pytest.mark.parametrize("was", ["nothing", "upstream", "split"])
def test_explain_of_a_file_knows_the_layout(project: Project, was: str) -> None:
    if was != "nothing":
        project.build(layout=was)
    for name in ("Functions.h", "Functions_common.h", "Functions_0.cpp"):
        run = project.run("explain", name, layout="split").clean()
        assert name in run.stdout
        if name != "Functions.h":
            run = project.run("explain", name)
            assert (run.status != 0, is_plain(run)) == (True, True)
