"""Settings: the variables of the command line, of the nearest settings file, and the set around the current folder."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import forked
import pytest
from project import ROOT, elsewhere, files_in
from watching import Watching

from gradmill.io.files import TICK
from gradmill.problems.plain import message_of
from gradmill.problems.problem import SpecError
from gradmill.session.answer import answer_to
from gradmill.session.settings.reader import read_settings, settings_report
from gradmill.session.settings.variables import VARIABLES

BASE = ROOT / "tests" / "bad" / "base"
CHECKOUT = "aten/src/ATen/native/native_functions.yaml"


@pytest.fixture
def inner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in a project with a small set, `mine`; the current one."""
    shutil.copytree(BASE, tmp_path / "mine")
    folder = tmp_path / "sub" / "sub"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def sources(**given: str) -> dict[str, tuple[str, str]]:
    """Each variable that something names: its value, and where it was read."""
    settings = read_settings(given)
    return {name: (value, settings.sources[name]) for name, value in settings.items()}


def checkout(tmp_path: Path) -> Path:
    """A checkout of a small PyTorch."""
    root = tmp_path / "pytorch"
    for name in ("native_functions.yaml", "tags.yaml"):
        (root / CHECKOUT).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(BASE / name, root / "aten/src/ATen/native" / name)
    (root / "tools/autograd").mkdir(parents=True)
    shutil.copyfile(BASE / "derivatives.yaml", root / "tools/autograd/derivatives.yaml")
    shutil.copytree(BASE / "templates", root / "tools/autograd/templates")
    write(root / "version.txt", "2.13.0\n")
    return root


# ---- the file


def test_the_nearest_file_above_has_the_defaults_and_its_paths_are_relative_to_it(inner: Path, tmp_path: Path) -> None:
    write(tmp_path / "gradmill.toml", 'strict = true\nspecs = "mine"\nagainst = "git:HEAD"\ncache = "build/cache"\n')
    assert sources() == {
        "strict": ("1", "../../gradmill.toml:1"),
        "specs": ("../../mine", "../../gradmill.toml:2"),
        "against": ("git:HEAD", "../../gradmill.toml:3"),
        "cache": ("../../build/cache", "../../gradmill.toml:4"),
        "generated": ("../../generated/<set>", "default"),
    }
    write(inner.parent / "gradmill.toml", 'specs = "torch"\n')
    assert sources()["specs"] == ("torch", "../gradmill.toml:1")
    assert "strict" not in sources()


def test_the_command_line_wins(inner: Path, tmp_path: Path) -> None:
    write(tmp_path / "gradmill.toml", 'strict = true\nspecs = "mine"\nrelease = "2.12"\nlayout = "split"\n')
    assert sources(strict="0", specs="core") == {
        "strict": ("0", "command line"),
        "specs": ("core", "command line"),  # so that the release, of the other set, does not count
        "layout": ("split", "../../gradmill.toml:4"),
    }


@pytest.mark.parametrize(
    "text",
    ["[tool.gradmill]\nshards = 4", "tool.gradmill.shards = 4", "[tool]\ngradmill.shards = 4",
     "tool = { gradmill = { shards = 4 } }", '[ "tool" . gradmill ]\nshards = 4', "[tool.'gradmill']\nshards=4"],
)  # fmt: skip
def test_a_table_of_pyproject_is_one_however_it_is_written(inner: Path, text: str) -> None:
    write(inner.parent / "pyproject.toml", f"{text}\n")
    assert sources()["shards"] == ("4", f"../pyproject.toml:{text.count(chr(10)) + 1}")


@pytest.mark.parametrize("text", ["", "[project]\nname = 'gradmill'\n", "[tool.ruff]\n# gradmill\n", "not [TOML"])
def test_a_pyproject_without_the_table_does_not_end_the_search(inner: Path, tmp_path: Path, text: str) -> None:
    write(inner / "pyproject.toml", text)
    write(tmp_path / "pyproject.toml", "[tool.gradmill]\nstrict = 1\n")
    assert sources() == {"strict": ("1", "../../pyproject.toml:2")}


def test_of_two_files_in_a_folder_gradmills_own_counts(inner: Path) -> None:
    write(inner / "pyproject.toml", "[tool.gradmill]\nstrict = 1\n")
    write(inner / "gradmill.toml", "shards = 4\n")
    assert sources() == {"shards": ("4", "gradmill.toml:1")}


def test_no_file_is_read_if_the_command_line_says_so(inner: Path) -> None:
    write(inner / "gradmill.toml", "strct = 1\n")
    assert sources(settings="none") == {"settings": ("none", "command line")}


VALUES = [
    ("strict", "true", "1"), ("strict", "0", "0"), ("shards", "4", "4"),
    pytest.param("memory", "0.5", "0.5", marks=pytest.mark.extension("graphs")),
    ("families", '["nodes", "view_funcs"]', "nodes,view_funcs"), ("families", '"all"', "all"),
    ("release", '"2.10"', "2.10"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "written", "value"), VALUES)
def test_values_have_the_types_of_toml(inner: Path, name: str, written: str, value: str) -> None:
    write(inner / "gradmill.toml", f"{name} = {written}\n")
    assert sources()[name][0] == value


WRONG = {
    "strct = 1": "gradmill.toml:1:1: strct: there is no such variable\n  hint: did you mean 'strict'?",
    "\nstrict = 2": "gradmill.toml:2:1: strict: '2' is not valid\n  hint: write strict=0 or strict=1",
    "layout = 'spilt'": "gradmill.toml:1:1: layout: 'spilt' is not valid\n  hint: did you mean 'split'?",
    "release = 2.10": 'gradmill.toml:1:1: release: this is a number\n  hint: write release = "…"',
    "cache = true": 'gradmill.toml:1:1: cache: this is a boolean\n  hint: write cache = "…"',
    "specs = ['core']": 'gradmill.toml:1:1: specs: this is a list\n  hint: write specs = "…"',
    "families = ['nodes', 1]": 'gradmill.toml:1:1: families: this is a list\n  hint: write families = "…"',
    "[strict]\na = 1": "gradmill.toml:1:1: strict: this is a table\n  hint: write strict=0 or strict=1",
    "fix = 1": "gradmill.toml:1:1: fix: only the command line applies fixes\n  hint: write fix= there, if at all",
    "hooks = 1": "gradmill.toml:1:1: hooks: only the command line of an editor lets it run the code of a set\n"
    "  hint: write hooks= there, if at all",
    "strict =": "gradmill.toml:1:9: not TOML: Invalid value\n  the file is TOML: toml.io has the syntax",
    "strct = 1\nspec = 1": "gradmill.toml:1:1: strct: there is no such variable\n  hint: did you mean 'strict'?\n"
    "gradmill.toml:2:1: spec: there is no such variable\n  hint: did you mean 'specs'?",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_in_a_file_is_reported_at_its_place(inner: Path, text: str) -> None:
    write(inner / "gradmill.toml", f"{text}\n")
    with pytest.raises(SpecError) as error:
        read_settings({})
    assert message_of(error.value) == WRONG[text]


def test_a_file_that_is_no_text_and_a_table_that_is_none_are_refused(inner: Path) -> None:
    (inner / "gradmill.toml").write_bytes(b"strict = \xff")
    with pytest.raises(SpecError, match=r"gradmill\.toml:1:10: byte 0xff is not UTF-8"):
        read_settings({})
    (inner / "gradmill.toml").unlink()
    write(inner / "pyproject.toml", "[tool]\ngradmill = 1\n")
    with pytest.raises(SpecError, match=r"pyproject\.toml:2:1: tool\.gradmill: this is no table"):
        read_settings({})


@pytest.mark.parametrize(
    "command", [[], ["check"], ["explain", "exp"], ["list"], ["gc"], ["--show-settings"]], ids=" ".join
)
def test_each_command_reports_it_and_does_nothing(inner: Path, tmp_path: Path, command: list[str]) -> None:
    write(tmp_path / "gradmill.toml", "strct = 1\n")
    before = sorted(tmp_path.rglob("*"))
    run = forked.gradmill(command, inner)
    assert (run.status, run.stdout) == (3, "")
    assert (
        run.stderr
        == "ERROR: ../../gradmill.toml:1:1: strct: there is no such variable\n  hint: did you mean 'strict'?\n"
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_an_error_of_a_value_names_the_place_in_the_file(inner: Path, tmp_path: Path) -> None:
    write(tmp_path / "gradmill.toml", '\nspecs = "mne"\n')
    forked.gradmill([], inner).failed("ERROR: ../../gradmill.toml:2: specs=../../mne: there is no such spec set\n")


def test_the_report_names_each_variable_its_value_and_where_it_was_read(inner: Path, tmp_path: Path) -> None:
    write(tmp_path / "gradmill.toml", 'strict = 1\nspecs = "mine"\n')
    run = forked.gradmill(["--show-settings", "layout=split"], inner).clean()
    assert run.stdout == settings_report(read_settings({"layout": "split"}))
    rows = {row.partition("=")[0]: row.split(maxsplit=1) for row in run.stdout.splitlines()}
    assert list(rows) == list(VARIABLES)
    assert rows["strict"] == ["strict=1", "../../gradmill.toml:1"]
    assert rows["layout"] == ["layout=split", "command line"]
    assert rows["shards"] == ["shards=16", "default"]
    assert rows["generated"] == ["generated=../../generated/<set>", "default"]
    forked.gradmill(["--show-settings", "layot=split"], inner).failed("did you mean 'layout'?")


def test_doit_and_gradmill_read_the_same_settings(inner: Path, tmp_path: Path) -> None:
    write(tmp_path / "gradmill.toml", 'specs = "mine"\nlayout = "split"\nshards = 2\n')
    shutil.copyfile(ROOT / "dodo.py", inner / "dodo.py")
    forked.doit([], inner).clean()
    files = files_in(tmp_path / "generated" / "mine")
    assert "Functions_1_formulas.cpp" in files and "Functions_2_formulas.cpp" not in files
    run = forked.gradmill([], inner).clean()
    assert "files in ../../generated/mine; none changed" in run.stdout
    assert files_in(tmp_path / "generated" / "mine") == files
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "generated", "gradmill.toml", "mine", "sub"]


def test_an_exported_rule_has_the_settings_and_reads_none_itself(inner: Path, tmp_path: Path) -> None:
    write(tmp_path / "gradmill.toml", 'specs = "mine"\nstrict = 1\n')
    rule = forked.gradmill(["export", "ninja"], inner).ok().stdout
    (command,) = [line for line in rule.splitlines() if "-m gradmill" in line]
    assert "-m gradmill settings=none " in command
    assert f"specs={tmp_path}/mine" in command and "strict=1" in command and f"cache={tmp_path}/cache" in command


def test_an_action_reads_no_file(inner: Path, tmp_path: Path) -> None:
    write(tmp_path / "gradmill.toml", 'specs = "mine"\ngenerated = "out"\n')
    forked.gradmill(["worker"], inner).failed("an action names no spec set", status=1)
    forked.gradmill(["worker", "specs=../../mine", "generated=made", "cache=c"], inner).ok()
    assert not (tmp_path / "out").exists() and (inner / "made").exists()


def test_watch_follows_an_edit_of_the_file(inner: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "gradmill.toml", 'specs = "mine"\n')
    watching = Watching(lambda command: elsewhere("-m", "gradmill", command, cwd=inner))
    watching.wait_for("watching mine")
    write(file, "spcs = 1\n")
    watching.wait_for("../../gradmill.toml:1:1: spcs: there is no such variable")
    write(file, 'specs = "mine"\nlayout = "split"\nshards = 2\n')
    watching.wait_for("the settings changed: restarting")
    watching.wait_for("watching mine")
    assert (tmp_path / "generated" / "mine" / "Functions_1_formulas.cpp").exists()
    write(inner / "gradmill.toml", 'specs = "../../mine"\n')
    watching.wait_for("the settings changed: restarting")
    watching.wait_for("watching mine")
    assert watching.stop() == 0


@pytest.mark.parametrize(
    "words",
    [["torchgen", "--dry-run", "--generate", "headers"], ["generate-code", "--subset", "libtorch"],
     ["backend-stubs", "-s", "missing.yaml", "-o", "out"],
     pytest.param(["pyi", "--tags-path", "missing.yaml"], marks=pytest.mark.extension("type_stubs"))],
    ids=lambda words: words[0],
)  # fmt: skip
def test_the_commands_in_the_place_of_scripts_read_no_file(tmp_path: Path, words: list[str]) -> None:
    root = checkout(tmp_path)
    write(root / "gradmill.toml", "strct = 1\n")
    wrong = forked.gradmill(words, root)
    write(root / "gradmill.toml", 'strict = 1\ncache = "elsewhere"\nrelease = "2.4"\n')
    assert forked.gradmill(words, root) == wrong
    assert "strct" not in wrong.stderr and not (root / "elsewhere").exists()


def test_garbage_is_that_of_the_cache_next_to_the_set(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    forked.gradmill([], root).ok()
    forked.gradmill(["gc"], root).clean()
    run = forked.gradmill(["gc"], root / "tools").clean()
    assert run == forked.gradmill(["gc"], root)
    assert run != forked.gradmill(["gc"], tmp_path)


# ---- the set around


@pytest.mark.parametrize("place", ["tools/autograd", "aten/src/ATen/native", "aten/src", "tools/autograd/templates"])
def test_in_a_folder_of_a_checkout_its_set_is_used_and_named(tmp_path: Path, place: str) -> None:
    root = checkout(tmp_path)
    up = os.path.relpath(root, root / place)
    notice = f"specs={up}: the spec set around this folder, which has {CHECKOUT}\n"
    for _ in range(2):
        run = forked.gradmill(["check"], root / place)
        assert (run.status, run.stdout, run.stderr) == (0, "pytorch: no problems\n", notice)
    run = forked.gradmill([], root / place)
    assert run.stderr == notice and f"files in {up}/generated/pytorch, " in run.stdout
    assert "; none changed" in forked.gradmill([], root).stdout  # it is the same build
    assert not (root / place / "cache").exists() and not (root / place / "generated").exists()


def test_a_check_from_an_inner_folder_keeps_nothing_in_a_set_without_a_cache(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    before = sorted(root.rglob("*"))
    forked.gradmill(["check"], root / "tools").ok()
    assert sorted(root.rglob("*")) == before


def test_outside_of_any_set_the_run_names_the_included_one(tmp_path: Path) -> None:
    run = forked.gradmill(["families=factories", "generated=out"], tmp_path).ok()
    assert run.stderr == "specs=core: the included set; no spec set is around this folder\n"
    lacking = forked.gradmill(["families=aten"], tmp_path)
    assert (lacking.status, lacking.stderr.endswith("does not have\n  also write specs=torch\n")) == (3, True)
    assert " in generated/core" in forked.gradmill(["families=factories", "cache=c"], tmp_path).clean().stdout


def test_a_part_of_another_set_is_not_taken_for_the_set_around(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    (root / "scratch").mkdir()
    shutil.copyfile(BASE / "native_functions.yaml", root / "scratch" / "native_functions.yaml")
    forked.gradmill(["check"], root / "scratch").failed(
        "ERROR: this folder has native_functions.yaml, but not all files"
    )
    (root / "scratch" / "inner").mkdir()
    forked.gradmill(["check"], root / "scratch" / "inner").failed("ERROR: .. has native_functions.yaml", "specs=..")


def test_the_nearer_of_a_set_and_a_file_that_names_another_one_counts(inner: Path, tmp_path: Path) -> None:
    write(tmp_path / "gradmill.toml", 'specs = "mine"\nrelease = "2.13"\nstrict = 1\n')
    other = Path(shutil.copytree(BASE, tmp_path / "other"))
    os.chdir(other / "templates")
    assert sources()["specs"] == ("..", "found: ../native_functions.yaml")
    assert "release" not in sources() and sources()["strict"] == ("1", "../../gradmill.toml:3")
    os.chdir(tmp_path / "mine")  # the one that the file names
    assert sources()["specs"] == ("../mine", "../gradmill.toml:1")
    assert read_settings({}).notice == ""


# ---- the answer before imports


class Answered:
    """A command line without variables, in an inner folder of a project, that its record answers."""

    def __init__(self, inner: Path, root: Path) -> None:
        self.inner, self.root, self.file = inner, root, root / "gradmill.toml"

    def run(self) -> forked.Run:
        time.sleep(1.2 * TICK / 1e9)  # what was saved just now may be saved again with the same stat
        return forked.gradmill([], self.inner)

    def again(self) -> forked.Run:
        """A run that leaves an answer, which is what the next run prints."""
        self.run()
        run = self.run()
        assert answer_to([]) == (run.stdout.encode(), run.stderr.encode())
        assert self.run() == run
        return run


@pytest.fixture
def answered(inner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answered:
    # Without the folder of gradmill, to which other tests write: an answer depends on the folders of Python's path.
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(ROOT)])
    result = Answered(inner, tmp_path)
    write(result.file, 'specs = "mine"\nlayout = "split"\nshards = 2\ncache = "build/cache"\n')
    assert "in ../../generated/mine; none changed" in result.again().stdout
    return result


def edited_in_place(at: Answered) -> None:
    before = at.file.stat()
    at.file.write_text(at.file.read_text().replace("shards = 2", "shards = 3"))
    os.utime(at.file, ns=(before.st_atime_ns, before.st_mtime_ns))


def gone(at: Answered) -> None:
    at.file.unlink()


def replaced(at: Answered) -> None:
    os.replace(write(at.root / "new", 'specs = "mine"\ncache = "build/cache"\n'), at.file)


def a_set_here(at: Answered) -> None:
    shutil.copytree(BASE, at.inner, dirs_exist_ok=True)


def a_set_between(at: Answered) -> None:
    shutil.copytree(BASE, at.inner.parent, dirs_exist_ok=True)


ABOVE = 'specs = "../mine"\ncache = "../build/cache"\n'
WRITTEN = {  # a file, from the current folder, and its text
    "a nearer one": ("../gradmill.toml", ABOVE),
    "one here": ("gradmill.toml", 'specs = "../../mine"\ncache = "../../build/cache"\n'),
    "a pyproject": ("../pyproject.toml", f"[tool.gradmill]\n{ABOVE}"),
    "a wrong one": ("gradmill.toml", "strct = 1\n"),
    "a description between": ("../specset.toml", 'name = "described"\nbase = "../mine"\n'),
}
SETTINGS_CHANGES: dict[str, Callable[[Answered], object]] = {
    **{name: lambda at, file=file, text=text: write(at.inner / file, text) for name, (file, text) in WRITTEN.items()},
    **{each.__name__: each for each in (edited_in_place, gone, replaced, a_set_here, a_set_between)},
}


@pytest.mark.parametrize("change", SETTINGS_CHANGES)
def test_no_answer_is_given_after_a_change_of_settings(answered: Answered, change: str) -> None:
    before = answered.run()
    time.sleep(1.2 * TICK / 1e9)
    SETTINGS_CHANGES[change](answered)
    assert answer_to([]) is None
    run = answered.run()
    assert (run.status, run.stdout, run.stderr) != (before.status, before.stdout, before.stderr)


def test_a_table_that_a_pyproject_gets_is_noticed(answered: Answered) -> None:
    path = write(answered.inner.parent / "pyproject.toml", "[project]\n")
    answered.again()
    path.write_text('[tool.gradmill]\nspecs = "../mine"\ncache = "../build/cache"\n')
    assert answer_to([]) is None


def test_a_stamp_that_a_file_names_is_written_however_often(answered: Answered) -> None:
    with answered.file.open("a") as file:
        file.write('stamp = "made"\n')
    for _ in range(3):
        answered.run().ok()
        assert (answered.root / "made").exists()
        (answered.root / "made").unlink()


def test_an_answer_is_of_its_own_folder(answered: Answered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(answered.inner.parent)
    assert answer_to([]) is None
    run = forked.gradmill([], answered.inner.parent).clean()
    assert " files in ../generated/mine, " in run.stdout and "; none changed" in run.stdout
