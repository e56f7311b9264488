"""The command line: doit's own commands on gradmill's tasks, what is refused, and output that is always the same."""

from __future__ import annotations

import shutil
from pathlib import Path
from zipfile import ZipFile

import forked
import pytest
from conftest import RELEASE
from hostile_stores import large_directory
from project import (
    ANALYSIS,
    ROOT,
    SHARD_TASKS,
    Project,
    assert_clean,
    elsewhere,
    files_in,
    finish,
)

# ---- commands


def test_list_names_the_stages(project: Project) -> None:
    run = project.run("list").ok()
    assert [line.split()[0] for line in run.stdout.splitlines()] == sorted([*ANALYSIS, "emit", "manifest", "shard"])


@pytest.mark.parametrize("backend", ["json", "sqlite3", "dbm"])
def test_a_backend_of_doits_own_may_be_asked_for(project: Project, backend: str, tmp_path: Path) -> None:
    words = ("--backend", backend, "--db-file", str(tmp_path / "values"))
    assert project.run(*words).status == 0
    again = project.run(*words).clean()
    assert {line[:2] for line in again.stdout.splitlines()[:-1]} == {"--"}
    assert project.run("ignore", *words, "manifest").status == 0
    assert "!! manifest" in project.run(*words).stdout  # it is read again
    assert list(tmp_path.glob("values*"))


def test_list_all_names_every_node_of_a_project_never_built(project: Project) -> None:
    names = [line.split()[0] for line in project.run("list", "--all").stdout.splitlines()]
    assert {*ANALYSIS, *SHARD_TASKS, "emit:ExpBackward0"} <= set(names)


def test_list_status_of_a_clean_project_is_up_to_date(built: Project) -> None:
    lines = built.run("list", "--all", "--status").stdout.splitlines()
    states = {line.split()[1]: line[0] for line in lines}
    assert "emit:ExpBackward0" in states
    assert {name for name, state in states.items() if state != "U"} == set()


def test_list_status_after_an_edit_shows_the_nodes_to_run(built: Project) -> None:
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    lines = built.run("list", "--all", "--status").stdout.splitlines()
    nodes = {line.split()[1] for line in lines if line[0] == "R" and line.split()[1].startswith("emit")}
    assert nodes == {"emit", "emit:ExpBackward0", "emit:ForeachExpBackward0"}
    states = {line.split()[1]: line[0] for line in built.run("list", "--status").stdout.splitlines()}
    assert (states["emit"], states["shard"], states["schemas"]) == ("R", "R", "U")


def test_list_runs_nothing_and_writes_no_generated_file(project: Project) -> None:
    run = project.run("list", "--all", "--status")
    assert (run.status, run.ran) == (0, [])
    assert project.files() == {}


def test_a_run_after_clean_makes_only_the_files_and_the_manifest(built: Project) -> None:
    before = built.files()
    built.run("clean")
    assert built.run().ran == [*SHARD_TASKS, "manifest"]
    assert built.files() == before


def test_always_execute_executes_every_task(built: Project) -> None:
    before = built.mtimes()
    run = built.run("-av", "2")
    assert {*ANALYSIS, *SHARD_TASKS, "emit:ExpBackward0"} <= set(run.ran)
    assert built.mtimes() == before


# ---- tasks by name


def test_a_stage_by_name_runs_what_it_needs(project: Project) -> None:
    run = project.run("infos")
    assert sorted(run.ran) == sorted(["specs", "schemas", "derivatives", "infos"])
    assert project.files() == {}


def test_a_node_by_name_runs_no_other_node(project: Project) -> None:
    run = project.run("emit:ExpBackward0").ok()
    assert sorted(run.ran) == sorted([*ANALYSIS, "emit:ExpBackward0"])


def test_all_units_share_a_task_and_each_has_one_when_they_are_listed(project: Project) -> None:
    assert project.gradmill("list").stdout.count("emit") == 1
    made = project.run().units
    listed = [line.split()[0] for line in project.run("list", "--all").stdout.splitlines()]
    assert sorted(f"emit:{unit}" for unit in made) == sorted(task for task in listed if task.startswith("emit:"))


def test_a_file_by_name_makes_no_other_file(project: Project) -> None:
    project.run("shard:Functions.cpp").ok()
    assert list(project.files()) == ["Functions.cpp"]
    assert project.files()["Functions.cpp"] == project.clean_build()["Functions.cpp"]


def test_a_node_by_name_brings_only_itself_up_to_date(built: Project) -> None:
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    run = built.run("emit:ForeachExpBackward0")
    assert [task for task in run.ran if ":" in task] == ["emit:ForeachExpBackward0"]


def test_a_file_by_name_brings_its_nodes_up_to_date(built: Project) -> None:
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    built.run("shard:Functions.cpp")
    assert built.files() == built.clean_build()


# ---- what is refused


@pytest.mark.parametrize("words", [(), ("list",), ("explain",), ("rule",), ("schema", "manifest"), ("clean",)])
def test_doit_refuses_a_variable_that_there_is_not(project: Project, words: tuple[str, ...]) -> None:
    project.run(*words, spcse="core").failed("spcse=core: there is no such variable", "did you mean 'specs'?", status=3)
    assert not project.generated.exists()


def test_a_dodo_that_was_copied_from_an_earlier_clone_has_the_tasks(project: Project) -> None:
    """Of one that imported them from another module."""
    text = (ROOT / "dodo.py").read_text()
    before = "import open_build, with_settings\nfrom pipeline.front.doit.namespace import namespace"
    (project.folder / "dodo.py").write_text(
        copied := text.replace("import namespace, open_build, with_settings", before)
    )
    assert copied != text
    assert "emit " in forked.doit(["list", *project.words], project.folder).ok().stdout
    forked.doit(["list", *project.words, "spcse=core"], project.folder).failed("there is no such variable", status=3)


def test_variables_of_other_projects_are_theirs(tmp_path: Path) -> None:
    (tmp_path / "dodo.py").write_text(
        "from doit import get_var\n"
        "def task_hello():\n"
        "    return {'actions': [lambda: print(get_var('spec'), get_var('colour'))], 'verbosity': 2}\n"
    )
    words = ["spec=mine", "colour=red"]
    run = forked.doit(words, tmp_path)
    assert (run.status, run.stdout) == (0, ".  hello\nmine red\n")
    assert [forked.doit([*words, command], tmp_path).status for command in ("list", "explain", "rule")] == [0, 0, 0]


@pytest.mark.parametrize("command", ["check", "page", "explain", "show", "list", "coverage", "export", "watch", "gc"])
def test_a_command_refuses_a_variable_that_there_is_not(project: Project, command: str) -> None:
    project.gradmill(command, colour="x").failed("colour=x: there is no such variable", "specs, release", status=3)
    assert not project.generated.exists()


@pytest.mark.parametrize("words", [("explain", ""), ("show", ""), ("show", "match", ""), ("coverage", ""), ("",)])
def test_a_word_of_no_letters_is_refused(project: Project, words: tuple[str, ...]) -> None:
    project.gradmill(*words).failed("'': an argument is empty", "leave it out", status=3)


# Words, variables, what is wrong, what to do.
REFUSED: list[tuple[str, dict[str, object], str, str]] = [
    ("", {"spec": "core"}, "spec=core: there is no such variable", "did you mean 'specs'?"),
    ("", {"zzz": 1}, "zzz=1: there is no such variable", "specs, release, generated, cache, strict"),
    ("", {"specs": "cors"}, "specs=cors: there is no such spec set", "did you mean 'core'?"),
    ("", {"strict": "yes"}, "strict=yes", "write strict=0 or strict=1"),
    ("show matches", {}, "no stage 'matches'", "did you mean 'match'?"),
    ("show", {}, "name a stage", "stages: specs"),
    ("show match sigmoit", {}, "'match' has no 'sigmoit'", "did you mean 'sigmoid'?"),
    ("info nonsense", {}, "there is no task 'nonsense'", "gradmill list --all"),
    ("info shard:Functions.hh", {}, "no task 'shard:Functions.hh'", "'shard:Functions.h'"),
    ("info shard:Functions.h", {"families": "factories"}, "there is no task 'shard:Functions.h'", ""),
    ("emit:NoSuchBackward0", {}, "there is no task 'emit:NoSuchBackward0'", ""),
    ("exlpain", {}, "there is no command or task 'exlpain'", "did you mean 'explain'?"),
    ("shwo match", {}, "there is no command or task 'shwo'", "did you mean 'show'?"),
    ("--specs torch", {}, "--specs", ""),
    ("--specs=torch", {}, "--specs", ""),
    ("explain --release 2.9", {}, "--release", "release=2.9"),
    ("emit:ExpBackwrd0", {}, "no task 'emit:ExpBackwrd0'", "did you mean 'emit:ExpBackward0'?"),
]


@pytest.mark.parametrize(("words", "variables", "problem", "hint"), REFUSED)
def test_what_there_is_not_is_refused(
    project: Project, words: str, variables: dict[str, object], problem: str, hint: str
) -> None:
    project.gradmill(*words.split(), **variables).failed(problem, hint, status=3)


def test_a_folder_without_specs_is_refused(project: Project, tmp_path: Path) -> None:
    project.run(specs=tmp_path).failed("no native_functions.yaml", "a spec set is a flat folder", status=3)


def test_a_file_that_is_no_wheel_is_refused(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "torch.whl"
    for data in (b"not a wheel", large_directory(1_000_000)):
        path.write_bytes(data)
        project.run(specs=path).failed("torch.whl: not a wheel", "download it again", status=3)


def test_a_set_that_does_not_tell_its_release_is_refused(project: Project) -> None:
    (project.specs / "RELEASE").unlink()
    project.run().failed("the spec set does not name its PyTorch release", "write release=X.Y.Z", status=3)


def test_an_unknown_release_is_refused(project: Project) -> None:
    (project.specs / "RELEASE").unlink()
    project.run(release="1.13").failed("PyTorch release '1.13' is not known", "known releases: 2.4.1", status=3)


def test_a_release_newer_than_all_known_ones_is_read_with_a_warning(project: Project) -> None:
    (project.specs / "RELEASE").unlink()
    run = project.run("specs", release="99.1").ok()
    assert "newer than all known ones" in run.stderr


def test_strict_makes_a_warning_an_error(project: Project) -> None:
    project.set_formula("exp", "self", "grad * rezult")
    project.run(strict=1).failed("unknown name 'rezult'", "strict=1: warnings are errors", status=1)
    assert project.files() == {}


# ---- show


def test_show_prints_an_operator_by_name(project: Project) -> None:
    (row,) = project.run("show", "infos", "mv").rows
    assert row["op"] == "MvBackward0"


def test_show_prints_a_node_by_name(project: Project) -> None:
    (row,) = project.run("show", "emit", "MvBackward0").rows
    assert "struct TORCH_API MvBackward0" in row["pieces"]["declaration"]


def test_show_touches_no_generated_file(built: Project) -> None:
    before = built.mtimes()
    built.set_formula("mv", "vec", "self.conj().t().mv(grad)")
    assert "self.conj().t().mv(grad)" in built.run("show", "infos", "mv").stdout
    assert built.mtimes() == before


# ---- always the same


def test_the_layout_changes_nothing(built: Project, small_specs: Path, tmp_path: Path) -> None:
    other = Project(tmp_path / "packaged", small_specs, RELEASE, packaged=True).build()
    assert other.files() == built.files()


def test_a_wheel_is_a_spec_set(built: Project, small_specs: Path, tmp_path: Path) -> None:
    packaged = Project(tmp_path / "packaged", small_specs, RELEASE, packaged=True)
    wheel = tmp_path / f"torch-{RELEASE}-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("torch/version.py", f"__version__ = '{RELEASE}'\n")
        for path in packaged.specs.rglob("*"):
            archive.write(path, f"torchgen/packaged/{path.relative_to(packaged.specs)}")
    generated = tmp_path / "from the wheel"
    built.run(specs=wheel, generated=generated).ok()
    assert files_in(generated) == built.files()
    assert built.run(specs=wheel, generated=generated).ran == []


def test_the_embedded_set_has_a_name_and_is_the_default(core_project: Project) -> None:
    forked.gradmill([], core_project.folder).ok()
    assert files_in(core_project.generated / "core") == core_project.clean_build()
    named = forked.gradmill(["specs=core"], core_project.folder)
    assert (named.status, named.ran) == (0, [])


def test_a_moved_project_makes_the_same_files(built: Project, tmp_path: Path) -> None:
    before = built.files()
    shutil.move(built.specs, tmp_path / "moved")
    built.specs = tmp_path / "moved"
    built.build()
    assert built.files() == before


def test_what_is_to_be_forgotten_stays_so_until_it_is_made_again(built: Project) -> None:
    assert built.run("forget", "emit:ExpBackward0").status == 0
    assert built.run("schemas").status == 0
    assert built.run().units == ["ExpBackward0"]
    assert built.run().ran == []


@pytest.mark.parametrize("folder", [None, ROOT])
def test_doit_may_be_started_from_elsewhere(project: Project, folder: Path | None) -> None:
    options = ["-f", ROOT / "dodo.py", *(["-d", folder] if folder else [])]
    values = project.words
    for words in ([], ["list", "--all"]):
        run = finish(elsewhere("-m", "doit", *words, *options, *values, cwd=project.folder))
        assert (run.status, run.stderr) == (0, ""), words
    assert_clean(project)
    assert finish(elsewhere("-m", "doit", *options, *values, cwd=project.folder)).ran == []
