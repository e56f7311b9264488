"""What a run prints: one line a stage, whatever there is to do, and on a terminal what it is doing right now."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys

import pytest
from project import ANALYSIS, ROOT, SHARDS, Project

SLOW = pytest.mark.slow
SHOW, EXPLAIN = ("show", "match", "exp"), ("explain", "exp")


def lines_of(text: str) -> list[str]:
    return re.sub(r"\d+\.\d s;", "T s;", text).splitlines()


def end(project: Project, changed: object = "none", files: int = len(SHARDS)) -> str:
    """The last line of a run that had work to do."""
    return f"{files} file{'s'[: files > 1]} in {project.generated}, T s; {changed} changed"


def test_a_first_run_has_one_line_a_stage(project: Project) -> None:
    run = project.gradmill()
    stages = [f".  {stage}" for stage in ANALYSIS]
    units = len(project.units())
    files = f".  shard: {len(SHARDS)} files"
    last = end(project, len(SHARDS))
    assert lines_of(run.stdout) == [*stages, f".  emit: {units} units", files, ".  manifest", last]


def test_a_run_with_nothing_to_do_counts_what_there_is(built: Project) -> None:
    stages = [f"-- {stage}" for stage in ANALYSIS]
    whole = [*stages, f"-- emit: {len(built.units())} units", f"-- shard: {len(SHARDS)} files", "-- manifest"]
    whole += [end(built).replace(", T s", "")]
    assert lines_of(built.gradmill().stdout) == whole  # doit says it
    assert lines_of(built.gradmill().stdout) == whole  # the note of it


def test_what_is_few_is_named(built: Project) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    lines = lines_of(built.gradmill().stdout)
    assert lines[-6:] == [
        ".  emit: ExpBackward0, ForeachExpBackward0",
        f"-- emit: {len(built.units()) - 2} units",
        ".  shard: Functions.cpp",
        f"-- shard: {len(SHARDS) - 1} files",
        ".  manifest",
        end(built, 1),
    ]


def test_files_that_are_no_longer_generated_are_counted(built: Project) -> None:
    lines = lines_of(built.gradmill(families="factories").stdout)
    assert lines[-1] == f"{end(built, files=1)}; {len(SHARDS) - 1} removed"
    assert "removed" not in built.gradmill(families="factories").stdout


def test_each_unit_and_file_has_a_line_where_that_is_asked_for(built: Project) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    lines = lines_of(built.run("--verbose").stdout)
    assert ".  emit:ForeachExpBackward0" in lines
    assert ".  shard:Functions.cpp" in lines and "-- shard:Functions.h" in lines
    assert not [line for line in lines if line.startswith((".  emit: ", ".  shard: ", "-- shard: "))]


@pytest.mark.parametrize(
    ("name", "line"), [("emit:MulBackward0", "-- emit: 1 unit"), ("shard:Functions.h", "-- shard: 1 file")]
)
def test_one_that_is_asked_for_is_reported(built: Project, name: str, line: str) -> None:
    assert line in lines_of(built.gradmill(name).stdout)


def test_a_quiet_run_prints_only_errors_and_warnings(built: Project) -> None:
    assert built.gradmill("-q").clean().stdout == ""
    built.set_formula("exp", "self", "grad * rezult")
    run = built.gradmill("--quiet").ok()
    assert (run.stdout, "rezult" in run.stderr) == ("", True)
    assert built.files() == built.clean_build()


def test_the_last_line_counts_only_files_that_were_written(built: Project) -> None:
    (built.generated / "Functions.h").unlink()
    assert lines_of(built.gradmill("shard:Functions.h").stdout)[-1] == end(built, 1, files=1)
    built.replace("derivatives.yaml", "- name: exp(", "# a comment\n- name: exp(")
    assert lines_of(built.gradmill().stdout)[-1] == end(built)
    built.set_formula("exp", "self", "result.conj() * grad")
    assert lines_of(built.gradmill().stdout)[-1] == end(built, 1)


def test_a_run_without_files_has_no_last_line(project: Project) -> None:
    run = project.gradmill("specs")
    assert run.status == 0 and " changed" not in run.stdout + run.stderr


def test_an_error_is_all_that_comes_behind_the_stages(project: Project) -> None:
    project.set_formula("exp", "self", "grad\n  slef: grad")
    run = project.gradmill()
    assert lines_of(run.stdout) == [f".  {stage}" for stage in ANALYSIS[:4]]
    assert run.stderr.count("slef") > 0


def test_a_file_that_cannot_be_written_is_not_among_the_files(project: Project) -> None:
    (project.generated / "Functions.h").mkdir(parents=True)
    run = project.gradmill()
    assert run.status != 0 and "Functions.h" in run.stderr
    assert not [line for line in lines_of(run.stdout) if "shard" in line]


# ---- progress


def on_a_terminal(project: Project, *words: str, **environment: str) -> str:
    """What a run sends to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gradmill", *words, *project.words]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT / "pipeline"), "TERM": "xterm", **environment}
    process = subprocess.Popen(command, cwd=project.folder, env=surroundings, stdout=theirs, stderr=theirs)
    os.close(theirs)
    result, waiting = b"", select.poll()
    waiting.register(ours, select.POLLIN)
    try:
        while waiting.poll(60_000) and (data := os.read(ours, 65536)):
            result += data
    except OSError:  # the end, on Linux
        pass
    finally:
        os.close(ours)
    assert process.wait() == 0, result
    return result.decode().replace("\r\n", "\n")


def shown(text: str) -> str:
    """What is left to be seen of what went to a terminal: of each line, what comes behind the last erasing."""
    return "\n".join(line.rpartition("\033[K")[2] for line in text.split("\n"))


def test_a_terminal_shows_what_is_being_done_in_a_line_that_goes(core_project: Project) -> None:
    project = core_project
    text = on_a_terminal(project)
    doing = [piece.partition("\n")[0] for piece in text.split("\r\033[K")[1:]]
    assert "specs" in doing
    assert len([piece for piece in doing if piece.startswith(("emit ", "shard ", "schemas", "match"))]) > 0
    assert all(len(piece) < 80 for piece in doing)
    units = len(project.units())
    left = lines_of(shown(text))
    assert left == [
        *(f".  {stage}" for stage in ANALYSIS),
        f".  emit: {units} units",
        f".  shard: {len(project.files())} files",
        ".  manifest",
        end(project, len(project.files()), len(project.files())),
    ]


@pytest.mark.parametrize("words", [("coverage",), *(pytest.param(each, marks=SLOW) for each in (SHOW, EXPLAIN))])
def test_commands_show_the_stage_that_they_bring_up_to_date(project: Project, words: tuple[str, ...]) -> None:
    text = on_a_terminal(project, *words)
    assert "\r\033[Kspecs" in text
    assert "\033[K" not in project.run(*words).stderr


def test_a_terminal_that_cannot_erase_gets_plain_lines(built: Project) -> None:
    text = on_a_terminal(built, TERM="dumb")
    assert "-- match\n" in text and "\033" not in text
