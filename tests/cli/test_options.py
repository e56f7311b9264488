"""Options of all commands: they may follow names, and one that does not exist is an error with a hint."""

from __future__ import annotations

import json
from pathlib import Path

import forked
import pytest
from project import Project

from cli.test_help import COMMANDS, NEEDED, TABLE

SCRIPTS = [name for name, command in TABLE.items() if command.script]  # which have arguments of others


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in SCRIPTS])
def test_an_option_that_does_not_exist_is_reported_before_and_after_names(
    tmp_path: Path, command: str, before: bool
) -> None:
    name = NEEDED.get(command, ["specs"])[0]
    words = [command, "--qqq", name] if before else [command, name, "--qqq"]
    run = forked.gradmill(words, tmp_path)
    assert (run.status, run.stdout) == (3, "")
    assert run.stderr == (
        f"ERROR: {command}: --qqq: there is no such option\n  gradmill help {command} lists the options\n"
    )
    assert list(tmp_path.iterdir()) == []


HINTS = {
    "coverage --fromat=json": "coverage: --fromat=json: there is no such option\n  did you mean '--format'?",
    "coverage exp --format": "coverage: --format: this option needs a value\n"
    "  gradmill help coverage lists the options",
    "coverage -z": "coverage: -z: there is no such option\n  gradmill help coverage lists the options",
    "list --all=1": "list: --all=1: this option has no value\n  gradmill help list lists the options",
    "explain exp --frmat=json": "--frmat=json: there is no such option\n  write format=json",
    "explain exp --format=json": "--format=json: there is no such option\n  write format=json",
    "--hlep": "run: --hlep: there is no such option\n  did you mean '--help'?",
    "specs --pareller": "run: --pareller: there is no such option\n  gradmill help run lists the options",
}


@pytest.mark.parametrize("line", HINTS)
def test_the_hint_is_the_nearest_option_or_variable(tmp_path: Path, line: str) -> None:
    run = forked.gradmill(line.split(), tmp_path)
    assert (run.status, run.stderr) == (3, f"ERROR: {HINTS[line]}\n")


def test_the_form_of_a_report_may_be_named_anywhere(tiny: Project) -> None:
    lines = (
        "coverage --format=json exp",
        "coverage exp --format=json",
        "coverage exp format=json",
        "coverage exp --format json",
    )
    reports = [tiny.run(*line.split()) for line in lines]
    assert {run.status for run in reports} == {0}
    assert {run.stdout for run in reports} == {reports[0].stdout}
    assert json.loads(reports[0].stdout)["rows"]


def test_options_of_a_run_may_follow_its_names(tiny: Project) -> None:
    named = "emit:ExpBackward0"
    tiny.gradmill().ok()
    after, before = tiny.gradmill(named, "-v"), tiny.gradmill("-v", named)
    assert (after.status, after.stdout) == (before.status, before.stdout)
    assert after.stdout.endswith("-- match\n-- emit: 1 unit\n")
