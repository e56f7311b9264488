"""doit's own commands on gradmill's tasks, as doit's documentation describes them."""

from __future__ import annotations

from pathlib import Path

import forked
import pytest
from msgspec import Raw
from project import ANALYSIS, NODE_FILES, ROOT, SHARDS, Project, Run, assert_clean, elsewhere, finish
from session.test_cache import DAMAGE

from gradmill.query.database import Database
from gradmill.stages.infos import infos_of

SLEF = "- name: exp(Tensor self) -> Tensor\n  slef: "


def executed(run: Run) -> list[str]:
    """The stages, groups and `manifest` of which something was executed."""
    lines = [line for line in run.ok().stdout.splitlines() if line.startswith(".  ")]
    return [line[3:].partition(":")[0] for line in lines]


@pytest.fixture
def made(project: Project) -> Project:
    """A project that doit has built."""
    project.doit().ok()
    return project


def test_a_build_equals_that_of_gradmill(project: Project) -> None:
    run = project.doit().clean()
    assert executed(run) == [*ANALYSIS, "emit", "shard", "manifest"]
    assert f".  shard: {len(SHARDS)} files\n" in run.stdout
    assert_clean(project)
    assert executed(project.doit()) == []
    assert project.gradmill().ran == []


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["alone", "threads"])
def test_an_edit_runs_what_it_changes(made: Project, words: tuple[str, ...]) -> None:
    made.set_formula("exp", "self", "result.conj() * grad")
    run = made.doit(*words)
    assert executed(run) == ["specs", "derivatives", "infos", "foreach", "match", "emit", "shard", "manifest"]
    assert ".  emit: nodes\n" in run.stdout and ".  shard: Functions.cpp\n" in run.stdout
    assert_clean(made)
    assert executed(made.doit(*words)) == []
    made.append("derivatives.yaml", "# a comment")
    assert executed(made.doit(*words)) == ["specs", "manifest"]


def test_list_names_the_tasks(project: Project) -> None:
    names = {line.split()[0] for line in project.doit("list", "--all").clean().stdout.splitlines()}
    assert {*ANALYSIS, "emit:nodes", "shard:Functions.cpp", "manifest"} <= names
    assert "emit:nodes:ExpBackward0" not in names
    units = {line.split()[0] for line in project.doit("list", "--all", units=1).clean().stdout.splitlines()}
    assert {*names, "emit:nodes:ExpBackward0"} <= units
    assert project.files() == {}


def test_list_shows_what_is_up_to_date_and_writes_nothing(made: Project) -> None:
    before = made.mtimes()
    lines = made.doit("list", "--all", "-s").clean().stdout.splitlines()
    assert {line.split()[1] for line in lines if line[0] == "R"} == {"emit", "shard"}  # doit runs each group
    made.set_formula("exp", "self", "result.conj() * grad")
    lines = made.doit("list", "--all", "-s").clean().stdout.splitlines()
    run = {line.split()[1] for line in lines if line[0] == "R"}
    assert {"derivatives", "emit:nodes", "shard:Functions.cpp"} <= run
    assert "schemas" not in run and "shard:Functions.h" not in run
    assert made.mtimes() == before


def test_a_task_by_name_or_pattern_or_path_runs_with_what_it_needs(project: Project) -> None:
    assert sorted(executed(project.doit("infos"))) == ["derivatives", "infos", "schemas", "specs"]
    assert project.files() == {}
    project.doit("shard:Functions.[hc]*").ok()
    assert sorted(project.files()) == ["Functions.cpp", "Functions.h"]
    project.doit(str(project.generated / "python_functions.h")).ok()
    assert sorted(project.files()) == ["Functions.cpp", "Functions.h", "python_functions.h"]
    assert project.files()["Functions.h"] == project.clean_build()["Functions.h"]


def test_a_unit_has_a_task_with_units(made: Project) -> None:
    run = made.doit("emit:nodes:ExpBackward0", units=1).clean()
    assert ".  emit: nodes:ExpBackward0\n" in run.stdout
    assert "emit" in executed(made.doit("emit:nodes", units=1))
    assert executed(made.doit("emit:nodes", units=1)) == []


@pytest.mark.parametrize("word", ["shard:nonsense.cpp", "emit:nosuch", "nonsense"])
def test_a_task_that_does_not_exist_is_an_error(project: Project, word: str) -> None:
    run = project.doit(word)
    assert (run.status, word in run.stderr) == (3, True)
    assert project.files() == {}


@pytest.mark.parametrize("words", [(), ("-c",), ("-a",), ("-c", "shard"), ("-n", "2", "-c")], ids=" ".join)
def test_an_error_is_reported_once_and_no_file_is_written(made: Project, words: tuple[str, ...]) -> None:
    files = made.files()
    made.replace("derivatives.yaml", "- name: exp(Tensor self) -> Tensor\n  self: ", SLEF)
    plain, run = made.gradmill(), made.doit(*words)
    assert run.status in (1, 2)  # doit's: with --continue, tasks whose inputs are missing count too
    assert run.stderr == plain.stderr
    assert made.files() == files


def test_with_continue_no_file_is_written_next_to_an_error(project: Project) -> None:
    """An error that only the units of one family have: the files of others have none."""
    project.replace("templates/Functions.h", "${autograd_function_declarations}", "${autograd_function_declaration}")
    assert project.gradmill().status == 1
    assert project.doit("--continue").status in (1, 2)
    assert project.files() == {}


def test_warnings_are_reported_by_every_run(made: Project) -> None:
    made.set_formula("exp", "self", "grad * slef")
    reports = [made.doit(*words).ok().stderr for words in ((), (), ("match",), ())]
    assert "unknown name 'slef'" in reports[0] and len(set(reports)) == 1
    made.doit(strict=1).failed("unknown name 'slef'", "strict=1: warnings are errors")


@pytest.mark.parametrize("task", ["match", "emit:nodes", "shard:Functions.h", "manifest"])
def test_what_is_forgotten_runs_once(made: Project, task: str) -> None:
    before = made.mtimes()
    assert made.doit("forget", task).status == 0
    assert task.partition(":")[0] in executed(made.doit())
    assert executed(made.doit()) == []
    assert made.mtimes() == before


def test_clean_deletes_what_gradmill_wrote(made: Project) -> None:
    before = made.files()
    assert made.doit("clean", "-n").status == 0
    assert made.files() == before
    (made.generated / "Functions.h").write_text("mine\n")
    run = made.doit("clean")
    assert "Functions.h: " in run.stdout and "it was not deleted" in run.stdout
    assert made.files() == {"Functions.h": b"mine\n"}
    (made.generated / "Functions.h").unlink()
    made.doit().ok()
    assert_clean(made)


def test_always_executes_every_task_and_writes_nothing(made: Project) -> None:
    before = made.mtimes()
    assert executed(made.doit("-a")) == [*ANALYSIS, "emit", "shard", "manifest"]
    assert made.mtimes() == before


def test_other_processes_are_an_error_with_a_hint(project: Project) -> None:
    project.doit("-n", "2", "-P", "process").failed("gradmill's tasks share one process", "leave out -P process")
    assert project.files() == {}


# ---- what is wrong


@pytest.mark.parametrize(
    ("variables", "problem", "hint"),
    [
        ({"spcse": "core"}, "spcse=core: there is no such variable", "did you mean 'specs'?"),
        ({"strict": "yes"}, "strict=yes", "write strict=0 or strict=1"),
        ({"units": "2"}, "units=2", "write units=0 or units=1"),
        ({"stamp": "made"}, "doit writes no stamp", "write gradmill stamp=made"),
        ({"fix": "1"}, "fix=1: only check fixes files", "write gradmill check fix=1"),
    ],
)
def test_a_wrong_variable_is_refused(project: Project, variables: dict[str, str], problem: str, hint: str) -> None:
    for words in ((), ("list",)):
        project.doit(*words, **variables).failed(problem, hint, status=3)
    assert not project.generated.exists()


def test_a_folder_of_another_set_is_refused(made: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other", made.specs, "2.13.0")
    other.cache = made.cache
    other.doit().failed("belongs to another spec set", status=3)


def test_a_place_of_others_is_refused(project: Project) -> None:
    project.generated.mkdir()
    (project.generated / "Functions.h").write_text("mine\n")
    project.doit().failed("Functions.h", "there is a file that gradmill did not generate")
    assert list(project.files()) == ["Functions.h"]


def test_an_error_that_earlier_results_alone_cause_is_reported_as_a_bug_and_the_next_run_is_right(
    made: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = infos_of.function

    def fragile(db: Database, name: str) -> dict[str, Raw]:
        if db.is_warm:
            raise KeyError(name)
        return sound(db, name)

    made.set_formula("exp", "self", "grad * result.conj() * 2")
    with monkeypatch.context() as patch:
        patch.setattr(infos_of, "function", fragile)
        run = forked.patched_doit(made.words)
    assert run.status != 0 and "IncrementalBug: a bug of gradmill" in run.stderr + run.stdout
    made.doit().ok()
    assert_clean(made)


@pytest.mark.parametrize("damage", [kind for kind in DAMAGE if not kind.startswith("roll_back")][::3])
def test_a_damaged_database_of_doit_is_replaced(made: Project, damage: str) -> None:
    (path,) = made.rows.parent.glob("doit-*")
    DAMAGE[damage](path, path.with_name("older"))
    assert "Traceback" not in made.doit().stderr
    made.set_formula("exp", "self", "result.conj() * grad")
    made.doit()
    made.gradmill().ok()
    assert_clean(made)


def test_each_configuration_has_a_database(made: Project) -> None:
    made.doit(families="nodes").ok()
    assert len(list(made.rows.parent.glob("doit-*"))) == 2
    assert sorted(made.files()) == sorted(NODE_FILES)
    assert executed(made.doit(families="nodes")) == []


@pytest.mark.parametrize("folder", [None, pytest.param(ROOT, marks=pytest.mark.slow)])
def test_doit_may_be_started_from_elsewhere(project: Project, folder: Path | None) -> None:
    options = ["-f", ROOT / "dodo.py", *(["-d", folder] if folder else [])]
    for words in ([], ["list", "--all"]):
        run = finish(elsewhere("-m", "doit", *words, *options, *project.words, cwd=project.folder))
        assert (run.status, run.stderr) == (0, ""), words
    assert_clean(project)
    assert executed(finish(elsewhere("-m", "doit", *options, *project.words, cwd=project.folder))) == []
