"""The command line of `gradmill`: names and patterns, what is refused, output that is always the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import forked
import pytest
from conftest import RELEASE
from project import ANALYSIS, SHARD_TASKS, SHARDS, Project, Run, files_in
from specs.test_spec_set import write_wheel


def states(run: Run) -> dict[str, str]:
    assert run.status == 0, run.stderr
    return {line.split()[1]: line[0] for line in run.stdout.splitlines()}


# ---- list


def test_list_names_the_stages(project: Project) -> None:
    run = project.run("list").ok()
    assert [line.split()[0] for line in run.stdout.splitlines()] == sorted([*ANALYSIS, "emit", "manifest", "shard"])


def test_a_run_after_clean_makes_only_the_files_and_the_manifest(built: Project) -> None:
    before = built.files()
    built.run("clean")
    assert built.run().ran == [*SHARD_TASKS, "manifest"]
    assert built.files() == before


# ---- names


def test_a_stage_by_name_runs_what_it_needs(project: Project) -> None:
    run = project.run("infos")
    assert sorted(run.ran) == sorted(["specs", "schemas", "derivatives", "infos"])
    assert project.files() == {}


def test_every_unit_is_listed(project: Project) -> None:
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


def test_the_units_of_a_family_may_be_named(project: Project) -> None:
    factories = project.run("emit:factories").ok().units
    assert factories and "ExpBackward0" not in factories
    assert project.run("emit:factories").ran == []


def test_a_file_is_named_by_any_path(built: Project, tmp_path: Path) -> None:
    (built.generated / "Functions.h").unlink()
    (tmp_path / "link").mkdir()
    assert built.gradmill("generated/../generated/Functions.h").status == 0
    assert built.files() == built.clean_build()
    assert built.gradmill("cache/set/manifest.json").stdout.splitlines()[-2] == "-- manifest"


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


def test_a_stamp_is_that_of_a_whole_run(project: Project, tmp_path: Path) -> None:
    stamp = tmp_path / "stamp"
    project.run("emit:Exp*", stamp=stamp).failed(
        f"stamp={stamp}: a stamp is of a whole run", "leave it out, or the names"
    )
    assert project.run(stamp=stamp).status == 0
    first, written = stamp.read_bytes(), stamp.stat()
    assert project.run(stamp=stamp).status == 0
    assert stamp.stat() == written
    project.set_formula("exp", "self", "grad * result.conj() * 1")
    assert project.run(stamp=stamp).status == 0
    assert stamp.read_bytes() != first


@pytest.mark.parametrize("command", ["run", "list", "clean"])
def test_a_pattern_without_a_match_is_refused(built: Project, command: str) -> None:
    built.run(command, "shard:functions.*").failed("nothing matches 'shard:functions.*'", "Functions", status=3)
    for word in ("emit:Exq*", "zz*"):
        built.run(command, word).failed(f"nothing matches '{word}'", status=3)


def test_a_pattern_of_specs_with_an_error_is_answered_with_the_error(project: Project) -> None:
    path = project.path("derivatives.yaml")
    path.write_text(path.read_text().replace("\n  self:", "\n  slef:", 1))
    project.run("emit:Exp*").failed("derivatives.yaml", status=1)
    project.run("clean", "shard:F*").failed("clean: the specs have errors", "gradmill check", status=3)


def test_commands_take_patterns(built: Project) -> None:
    listed = built.run("list", "--status", "emit:Exp*", "shard:F*")
    assert states(listed) == dict.fromkeys(("emit:ExpBackward0", "shard:Functions.cpp", "shard:Functions.h"), "U")
    assert states(built.run("list", "specs", "--status")) == {"specs": "U"}
    assert built.run("clean", "shard:F*").status == 0
    assert {"Functions.h", "Functions.cpp"}.isdisjoint(built.files())
    assert built.run().shards == ["Functions.h", "Functions.cpp"]


# ---- what is refused


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
    ("show match epx", {}, "'match' has no 'epx'", "did you mean 'exp'?"),
    ("list nonsense", {}, "there is no stage, unit or file 'nonsense'", "gradmill list --all"),
    ("clean shard:Functions.hh", {}, "no stage, unit or file 'shard:Functions.hh'", "'shard:Functions.h'"),
    ("clean emit", {}, "clean: 'emit' has no file of its own", "shard, shard:FILE and manifest have"),
    ("run shard:Functions.h", {"families": "factories"}, "there is no stage, unit or file 'shard:Functions.h'", ""),
    ("emit:NoSuchBackward0", {}, "there is no stage, unit or file 'emit:NoSuchBackward0'", ""),
    ("specs nope", {}, "there is no stage, unit or file 'nope'", "gradmill list --all"),
    ("here.cpp", {}, "there is no command, stage, unit or file 'here.cpp'", "gradmill help"),
    ("exlpain", {}, "there is no command, stage, unit or file 'exlpain'", "did you mean 'explain'?"),
    ("shwo match", {}, "there is no command, stage, unit or file 'shwo'", "did you mean 'show'?"),
    ("run -n 2", {}, "run: -n: there is no such option", "gradmill help run"),
    ("--specs torch", {}, "--specs", ""),
    ("--specs=torch", {}, "--specs", ""),
    ("explain --release 2.9", {}, "--release", "release=2.9"),
    ("emit:ExpBackwrd0", {}, "file 'emit:ExpBackwrd0'", "did you mean 'emit:ExpBackward0'?"),
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
    path.write_bytes(b"not a wheel")
    project.run(specs=path).failed("torch.whl: not a wheel", "download it again", status=3)


def test_strict_makes_a_warning_an_error(project: Project) -> None:
    project.set_formula("exp", "self", "grad * rezult")
    project.run(strict=1).failed("unknown name 'rezult'", "strict=1: warnings are errors", status=1)
    assert project.files() == {}


# ---- show


def test_show_touches_no_generated_file(built: Project) -> None:
    before = built.mtimes()
    built.set_formula("exp", "self", "result.conj() * grad")
    assert "result.conj() * grad" in built.run("show", "infos", "exp").stdout
    assert built.mtimes() == before


# ---- always the same


def test_the_layout_changes_nothing(built: Project, tiny_specs: Path, tmp_path: Path) -> None:
    other = Project(tmp_path / "packaged", tiny_specs, RELEASE, packaged=True).build()
    assert other.files() == built.files()


def test_a_wheel_is_a_spec_set(built: Project, tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / f"torch-{RELEASE}-py3-none-any.whl", built.specs)
    generated = tmp_path / "from the wheel"
    built.run(specs=wheel, generated=generated).ok()
    assert files_in(generated) == built.files()
    assert built.run(specs=wheel, generated=generated).ran == []


def test_the_embedded_set_has_a_name_and_is_the_default(core_project: Project) -> None:
    forked.gradmill(["families=factories"], core_project.folder).ok()
    assert files_in(core_project.generated / "core") == core_project.clean_build(families="factories")
    named = forked.gradmill(["specs=core", "families=factories"], core_project.folder)
    assert (named.status, named.ran) == (0, [])


LARGE = "argparse hashlib importlib.resources inspect pathlib tempfile typing_extensions".split()


def test_an_edit_imports_no_large_module_that_it_does_not_need(tiny: Project) -> None:
    """Imports are half of the time of an edit. `typing_extensions` is installed next to torch."""
    tiny.append("derivatives.yaml", "# a comment\n")
    code = "import sys; from gradmill.cli.start.command import main; main(sys.argv[1:]); print(*sys.modules, sep='\\n')"
    run = subprocess.run([sys.executable, "-c", code, *tiny.words], capture_output=True, text=True, check=True)
    assert ".  specs" in run.stdout and "gradmill.stages.manifest" in run.stdout
    assert [name for name in run.stdout.splitlines() if name in LARGE] == []
