"""doit's own commands and their patterns on gradmill's tasks: each does what doit says, or refuses; none is silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import ANALYSIS, SHARD_TASKS, SHARDS, Project, Run


def states(run: Run) -> dict[str, str]:
    assert run.status == 0, run.stderr
    return {line.split()[1]: line[0] for line in run.stdout.splitlines()}


# ---- patterns


@pytest.mark.parametrize("variables", [{}, {"layout": "split"}], ids=["", "split"])
def test_a_pattern_runs_the_units_that_match(project: Project, variables: dict[str, str]) -> None:
    run = project.run("emit:Add*", **variables).ok()
    wanted = [unit for unit in project.clean_build(**variables) and project.unit_names() if unit.startswith("Add")]
    assert wanted
    assert run.units == wanted
    assert {*run.ran[: len(ANALYSIS)]} == {*ANALYSIS}
    assert project.files() == {}
    assert project.run("emit:Add*", **variables).ran == []


def test_a_pattern_runs_the_files_that_match_and_what_they_need(project: Project) -> None:
    run = project.run("shard:python*").ok()
    wanted = [name for name in SHARDS if name.startswith("python")]
    assert sorted(run.shards) == sorted(project.files()) == sorted(wanted)
    assert {name: data for name, data in project.clean_build().items() if name in wanted} == project.files()


def test_a_pattern_may_match_in_any_group_and_stages(project: Project) -> None:
    run = project.run("*Backward0").ok()
    assert run.units == [unit for unit in project.unit_names() if unit.endswith("Backward0")]
    assert project.run("s*").ran[-1].startswith("shard:")
    assert project.run("*").ran == ["manifest"]
    assert project.run().ran == []


def test_a_stamp_of_a_pattern_is_that_of_what_matches(project: Project, tmp_path: Path) -> None:
    stamp = tmp_path / "stamp"
    assert project.run("emit:Exp*", stamp=stamp).status == 0
    first = stamp.read_bytes()
    assert b"emit:ExpBackward0 " in first
    project.set_formula("mv", "self", "grad.ger(vec.conj()) * 1")
    assert project.run("emit:Exp*", stamp=stamp).status == 0
    assert stamp.read_bytes() == first
    project.set_formula("exp", "self", "grad * result.conj() * 1")
    assert project.run("emit:Exp*", stamp=stamp).status == 0
    assert stamp.read_bytes() != first


@pytest.mark.parametrize("command", ["run", "list", "info", "clean", "forget", "ignore", "reset-dep"])
def test_a_pattern_without_a_match_is_refused(built: Project, command: str) -> None:
    built.run(command, "shard:functions.*").failed("no task matches 'shard:functions.*'", "Functions", status=3)
    for word in ("emit:Exq*", "zz*") if command == "run" else ():
        built.run(command, word).failed(f"no task matches '{word}'", status=3)


def test_a_pattern_of_specs_with_an_error_is_answered_with_the_error(project: Project) -> None:
    path = project.path("derivatives.yaml")
    path.write_text(path.read_text().replace("\n  self:", "\n  slef:", 1))
    project.run("emit:Exp*").failed("derivatives.yaml", status=1)


def test_commands_take_patterns(built: Project) -> None:
    listed = built.run("list", "--status", "emit:Exp*", "shard:F*")
    assert states(listed) == dict.fromkeys(("emit:ExpBackward0", "shard:Functions.cpp", "shard:Functions.h"), "U")
    assert built.run("info", "emit:ExpBack*").status == 0
    built.run("info", "shard:F*").failed("must select *one* task", status=3)
    built.run("list", "--", "--status").failed("there is no task '--status'", "options come before", status=3)
    assert states(built.run("list", "specs", "--status")) == {"specs": "U"}
    ignored = built.run("ignore", "shard:F*")
    assert ignored.stdout == "ignoring shard:Functions.h\nignoring shard:Functions.cpp\n"
    assert built.run().stdout.count("!! shard:Functions") == 2
    assert built.run("forget", "shard:F*").status == 0
    assert built.run("clean", "shard:F*").status == 0
    assert {"Functions.h", "Functions.cpp"}.isdisjoint(built.files())
    assert built.run().shards == ["Functions.h", "Functions.cpp"]


# ---- forget


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        (("specs",), ["specs"]),
        (("derivatives",), ["derivatives"]),
        (("emit:ExpBackward0",), ["emit:ExpBackward0"]),
        (("emit:Exp*",), ["emit:ExpBackward0"]),
        (("shard:Functions.h",), ["shard:Functions.h"]),
        (("shard:F*", "manifest"), ["shard:Functions.h", "shard:Functions.cpp", "manifest"]),
        (("manifest",), ["manifest"]),
    ],
    ids=str,
)
def test_what_is_forgotten_runs_once(built: Project, words: tuple[str, ...], ran: list[str]) -> None:
    before = built.mtimes()
    assert built.run("forget", *words).status == 0
    assert built.run().ran == ran
    assert built.run().ran == []
    assert built.mtimes() == before


def test_what_is_forgotten_runs_once_in_the_split_layout(project: Project) -> None:
    project.build(layout="split")
    name = sorted(project.files())[0]
    assert project.run("forget", f"shard:{name}", "manifest", layout="split").status == 0
    assert project.run(layout="split").ran == [f"shard:{name}", "manifest"]
    assert project.run(layout="split").ran == []


@pytest.mark.parametrize("forgotten", ["specs", "shard:Functions.h", "-a"])
def test_what_is_forgotten_runs_once_where_only_that_is_asked_for(built: Project, forgotten: str) -> None:
    assert built.run("forget", forgotten).status == 0
    asked = "shard:Functions.h" if forgotten == "-a" else forgotten
    assert asked in built.run(asked).ran
    assert built.run(asked).ran == []
    rest = built.run().ran
    assert ("manifest" in rest, asked in rest) == (forgotten == "-a", False)
    assert built.run().ran == []


def test_forgetting_all_runs_all(built: Project) -> None:
    assert built.run("forget", "-a").status == 0
    assert {*ANALYSIS, *SHARD_TASKS, "manifest"} <= set(built.run().ran)
    assert built.run().ran == []


@pytest.mark.parametrize("task", ["manifest", "emit:ExpBackward0", "shard:Functions.h"])
def test_an_error_is_reported_where_something_is_forgotten_too(built: Project, task: str) -> None:
    assert built.run("forget", task).status == 0
    formulas = built.path("derivatives.yaml").read_text()
    built.path("derivatives.yaml").write_text(formulas.replace("\n  self:", "\n  slef:", 1))
    run = built.run()
    assert (run.status, run.stderr.count("error: add.Tensor: slef")) == (1, 1)
    built.path("derivatives.yaml").write_text(formulas)
    assert task in built.run().ran
    assert built.run().ran == []
    assert built.files() == built.clean_build()


def test_clean_may_forget(built: Project) -> None:
    assert built.run("clean", "--forget", "shard:Functions.h").status == 0
    assert built.run().ran == ["shard:Functions.h"]


# ---- info


def test_info_names_what_changed(built: Project) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    text = built.path("derivatives.yaml").read_text()
    line = text[: text.index("- name: exp(")].count("\n") + 1
    for task in ("infos", "emit:ExpBackward0", "shard:Functions.cpp", "manifest"):
        run = built.run("info", task)
        assert (run.status, run.stderr) == (1, "")
        assert f"status     : run\n * derivatives.yaml:{line} exp changed\n" in run.stdout
    assert built.run("info", "schemas").status == 0


def test_info_of_a_group_has_the_state_of_its_tasks(built: Project) -> None:
    assert "status     : up-to-date" in built.run("info", "shard").stdout
    (built.generated / "Functions.h").write_text("mine")
    run = built.run("info", "shard")
    assert f"status     : run\n * 1 of its {len(SHARDS)} tasks are to run:\n    - shard:Functions.h\n" in run.stdout
    assert " * its output was changed or removed\n" in built.run("info", "shard:Functions.h").stdout


def test_info_says_why_a_task_would_fail(built: Project) -> None:
    path = built.path("derivatives.yaml")
    path.write_text(path.read_text().replace("\n  self:", "\n  slef:", 1))
    for task in ("infos", "manifest"):
        run = built.run("info", task)
        assert run.status == 1
        assert "It would fail" in run.stdout and "error: add.Tensor: slef" in run.stdout


def test_info_of_what_was_never_made_or_is_forgotten_says_so(project: Project) -> None:
    assert " * it was never built\n" in project.run("info", "emit:ExpBackward0").stdout
    project.build()
    assert project.run("forget", "specs").status == 0
    assert " * `gradmill forget` names it\n" in project.run("info", "specs").stdout


# ---- what would do nothing, or what doit ends in a traceback


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("-n", "-1"), "-n -1: not a number of processes"),
        (("-P", "nope"), "-P nope: unknown kind of worker"),
        (("-o", "/none/file"), "/none/file: No such file or directory"),
        (("-r", "json", "-o", "/none/file"), "/none/file: No such file or directory"),
        (("-o", "/dev/full"), "No space left on device"),
        (("--nope",), "option --nope not recognized\n  gradmill help run lists the options"),
        (("specs", "nope"), "there is no task 'nope'"),
        (("here.cpp",), "there is no command or task 'here.cpp'"),
        (("shard:functions.h",), "there is no task 'shard:functions.h'\n  did you mean 'shard:Functions.h'?"),
        (("ignore",), "ignore: name a task"),
        (("strace", "specs"), "start no commands that could be traced"),
        (("strace", "nope"), "there is no task 'nope'"),
        (("reset-dep",), "nothing can be marked as unchanged"),
        (("forget", "--db-file", "/none/db", "specs"), "runs read the tasks to forget from"),
        (("clean", "--forget", "--backend", "json", "specs"), "runs read the tasks to forget from"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_wrong_on_the_command_line_is_refused(built: Project, words: tuple[str, ...], problem: str) -> None:
    built.run(*words).failed(problem, status=3)


def test_a_task_may_run_alone(built: Project) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    assert built.run("-s", "shard:Functions.cpp").ran == ["shard:Functions.cpp"]
    assert built.files() == built.clean_build()
    assert built.run("-s", "manifest").ran == ["manifest"]


def test_a_file_is_named_by_any_path(built: Project, tmp_path: Path) -> None:
    (built.generated / "Functions.h").unlink()
    (tmp_path / "link").mkdir()
    assert built.gradmill("generated/../generated/Functions.h").status == 0
    assert built.files() == built.clean_build()
    assert built.gradmill("cache/set/manifest.json").stdout.splitlines()[-2] == "-- manifest"


def test_what_is_ignored_stays_as_it_is_however_much_there_is_to_do(project: Project) -> None:
    run = project.run("ignore", "emit:Mv*")
    assert run.stdout == "ignoring emit:MvBackward0\n"
    run = project.gradmill().ok()
    assert "!! emit: 1 unit\n" in run.stdout and "!! manifest\n" in run.stdout
    assert project.files() == {}
    assert project.run("forget", "emit:Mv*").status == 0
    project.build()
    assert project.files() == project.clean_build()
