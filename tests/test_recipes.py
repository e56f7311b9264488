"""docs/tutorial.md, docs/recipes.md: the commands of each run from top to bottom, and print what the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import forked
import pytest
from project import ROOT

TUTORIAL, RECIPES = ((ROOT / "docs" / name).read_text() for name in ("tutorial.md", "recipes.md"))
SKIPPED = "…"


class Step(NamedTuple):
    """A command of the page, the task that it is for, and the output as far as the page shows it."""

    task: str
    command: str
    shown: str


def steps(page: str) -> list[Step]:
    """All commands in console blocks."""
    result: list[Step] = []
    for section in re.split(r"^(?=#)", page, flags=re.MULTILINE):
        task = section.partition("\n")[0].lstrip("# ")
        for block in re.findall(r"^```console\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                result.append(Step(task, command, shown))
    return result


def is_shown(shown: str, output: str) -> bool:
    """Whether an output is what the page shows; `…` stands for any lines, or for any part of one."""
    lines = shown.splitlines()
    pattern = "".join(
        r"(?:.*\n)*?" if line == SKIPPED else re.escape(line).replace(SKIPPED, ".*") + r"\n" for line in lines
    )
    return re.fullmatch(pattern, output if not output or output.endswith("\n") else f"{output}\n") is not None


def ran(command: str, folder: Path) -> tuple[int, str]:
    """The status and the output of a command."""
    inner = re.search(r'"\$\((.*)\)"', command)
    if inner is not None:
        status, output = ran(inner[1], folder)
        return ran(command.replace(inner[0], shlex.quote(output.strip())), folder) if status == 0 else (status, output)
    words = shlex.split(command)
    if words[0] == "gradmill":
        run = forked.gradmill(words[1:], folder)
        return run.status, run.stdout + run.stderr
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", [TUTORIAL, RECIPES], ids=["tutorial", "recipes"])
def test_every_command_prints_what_the_page_shows(tmp_path: Path, page: str) -> None:
    for step in steps(page):
        status, output = ran(step.command, tmp_path)
        assert status == 0, (step, output)
        assert is_shown(step.shown, output), (
            f"{step.task}\n$ {step.command}\nthe page shows:\n{step.shown}\nactual:\n{output}"
        )


def test_each_recipe_has_a_command() -> None:
    tasks = re.findall(r"^### (.*)$", RECIPES, re.MULTILINE)
    assert len(set(tasks)) == len(tasks)
    assert set(tasks) <= {step.task for step in steps(RECIPES)}


@pytest.mark.parametrize(
    ("shown", "output", "same"),
    [
        ("", "", True),
        ("", "a\n", False),
        ("a\n", "a\n", True),
        ("a\n…\nb\n", "a\nb\n", True),
        ("a\n…\nb\n", "a\n1\n2\nb\n", True),
        ("a\n…\n", "b\n", False),
        ("a … c\n", "a b c\n", True),
        ("a …\n", "b c\n", False),
        ("a\n…\n", "a\nb", True),
    ],
)
def test_what_is_left_out_may_be_anything(shown: str, output: str, same: bool) -> None:
    assert is_shown(shown, output) == same
