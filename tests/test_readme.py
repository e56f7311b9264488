"""README's commands are run as they stand: in a clean clone, and from an installed wheel in an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import installed
import pytest
from cpp import toolchain
from project import ROOT, Run, finish
from test_recipes import Step, is_shown, steps

README = (ROOT / "README.md").read_text()
IN_CLONE = (*installed.SOURCES, "dodo.py", "examples", "docs", "tests", "bench")

# What stands for something in the summary of commands.
MEANT = {
    "STAGE": "match",
    "NAME": "exp",
    "RULE": "unknown-name",
    "SET": "core",
    "A": "core",
    "B": "core",
    "DIR": "made",
    "X.Y.Z": "2.13.0",
    "PATH": "page",
    "FOLDER": "begun",
}


BLOCKS = re.findall(r"^```([^\n]*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)  # behind the fence, the text


def block(kind: str) -> list[str]:
    """The lines of the first block of a kind."""
    return next(text for each, text in BLOCKS if each == kind).splitlines()


def summary() -> list[tuple[str, list[str]]]:
    """The lines of the summary of commands, each with the words that it means."""
    lines = [re.split(r"\s{2,}", line)[0] for line in block("")]
    named = [line for line in lines if line.split()[0] == "gradmill"]
    return [(line, [word for each in line.split()[1:] for word in _meant(each)]) for line in named]


def _meant(word: str) -> list[str]:
    """One word, with what it stands for; what is in brackets and is not a name is left out."""
    inner = word.strip("[]…")
    name, equals, value = inner.partition("=")
    if word.startswith("[") and inner.isupper():
        return [MEANT[inner]]
    if word.startswith("[") and not inner.startswith("-"):
        return []
    value = value.partition("|")[0]
    return [f"{name}={MEANT.get(value, value)}"] if equals else [MEANT.get(inner, inner)] if inner else []


# ---- what README has


def test_readme_has_its_two_commands() -> None:
    kinds = [kind for kind, _ in BLOCKS]
    assert kinds[:2] == ["sh run", "sh tests"]
    assert {*kinds} <= {"sh run", "sh tests", "sh", "console", ""}
    assert "sh tests" in (ROOT / ".ci" / "run").read_text()  # that is where this one is run


# ---- in a clean clone


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in the repository, in a folder where nothing was run."""
    folder = tmp_path_factory.mktemp("clone") / "gradmill"
    folder.mkdir()
    return installed.copy_clone(folder, IN_CLONE)


@pytest.fixture(scope="module")
def built(clone: Path) -> Path:
    doit(clone).ok()
    return clone


def doit(folder: Path, *words: str) -> Run:
    return installed.run(sys.executable, "-m", "doit", *words, cwd=folder)  # dodo.py finds the clone's gradmill


def gradmill(folder: Path, *words: str) -> Run:
    """The clone's, which an editable installation has on Python's path."""
    path = f"PYTHONPATH={folder / 'pipeline'}"
    return installed.run("env", path, sys.executable, "-m", "gradmill", *words, cwd=folder)


PROGRAMS = {"doit": doit, "gradmill": gradmill}


def assert_shown(step: Step, printed: str) -> None:
    """The time of a run is not compared."""
    output = re.sub(r"\d+\.\d s;", "0.2 s;", printed)
    assert is_shown(step.shown, output), f"{step.command} prints:\n{output}"


def test_what_an_edit_costs_is_as_shown(built: Path) -> None:
    path = built / "specs" / "core" / "derivatives.yaml"
    text = path.read_text()
    formula = re.search(r"- name: mv\(.*\n  self: (.*)\n", text)
    assert formula is not None
    try:
        path.write_text(text.replace(formula[0], formula[0].replace(formula[1], f"1 * {formula[1]}")))
        for step in steps(README)[:-1]:
            program, *words = step.command.split()
            run = PROGRAMS[program](built, *words)
            assert_shown(step, run.stdout + run.stderr)
    finally:
        path.write_text(text)
    assert doit(built).status == 0


def test_an_error_is_as_shown(clone: Path) -> None:
    shutil.copytree(clone / "specs" / "core", clone / "mine")
    path = clone / "mine" / "derivatives.yaml"
    text = path.read_text()
    path.write_text(text.replace("  self: grad * result.conj()\n", "  slef: grad * result.conj()\n"))
    step = steps(README)[-1]
    run = gradmill(clone, *step.command.split()[1:])
    assert run.status == 1
    assert_shown(step, run.stderr)


def assert_works(folder: Path, command: list[str], words: list[str]) -> None:
    if words[:1] == ["watch"]:
        assert_starts_and_ends(folder, command, words)
        return
    done = installed.run(*command, *words, cwd=folder).ok()
    assert "Traceback" not in done.stderr


def assert_starts_and_ends(folder: Path, command: list[str], words: list[str]) -> None:
    process = installed.start(*command, *words, cwd=folder)
    try:
        assert process.stdout is not None
        assert any(line.startswith("watching") for line in process.stdout)
    finally:
        process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert "Traceback" not in ended.stderr


def bash(text: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-euo", "pipefail", "-c", text]
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


@pytest.mark.slow(12)
def test_the_first_command_sets_up_a_clean_clone_and_generates(clone: Path) -> None:
    (line,) = block("sh run")
    ours = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    done = bash(line, clone, environment)
    assert done.returncode == 0, done.stderr
    assert "manifest" in done.stdout
    assert (clone / "generated" / "core" / "Functions.cpp").is_file()


@pytest.mark.slow
def test_the_builds_of_the_examples_are_configured(clone: Path, commands: Path) -> None:
    """What they compile, tests/test_examples.py shows; here nothing is compiled."""
    if reason := toolchain.missing("ninja", "cmake"):
        pytest.skip(reason)
    lines = [line for line in block("sh") if "pip install" not in line]
    text = "\n".join(lines).replace("ninja -C build/ninja", "ninja -C build/ninja -n")
    text = text.replace("cmake --build build/cmake", "cmake --build build/cmake -- -n")
    assert text.count(" -n") == 2
    environment = {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}
    done = bash(text, clone, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("libcore_nodes.so") == 2


# ---- from a wheel, in an empty folder


@pytest.fixture(scope="module")
def empty(commands: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    assert installed.run(commands / "gradmill", cwd=folder).status == 0
    return folder


@pytest.mark.slow(1.5)
@pytest.mark.parametrize(("line", "words"), summary(), ids=lambda result: result if isinstance(result, str) else "")
def test_a_command_of_the_summary_works_in_an_empty_folder(
    empty: Path, commands: Path, line: str, words: list[str]
) -> None:
    assert_works(empty, [str(commands / "gradmill")], words)
