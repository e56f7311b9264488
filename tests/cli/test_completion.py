"""Completion: the words that the scripts of `gradmill completion` offer in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import forked
import pytest
from project import Project

from gradmill.cli.commands.completion import SHELLS, cases, script
from gradmill.cli.commands.table import COMMANDS
from gradmill.session.settings.variables import VARIABLES

WORDS = {  # what prints the candidates for a line, in each shell
    "bash": "_gradmill_words {0!r}",
    "zsh": "_gradmill_words {0!r}",
    "fish": "complete -C {0!r}",
}


def run_in(shell: str, folder: Path, text: str) -> list[str]:
    """The lines that commands print in a shell with the script, each without a description."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (folder / "script").write_text(script(shell))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    first = "compdef() { }; " if shell == "zsh" else ""  # zsh has it where a person types
    done = subprocess.run(
        [shell, "-c", f"{first}source {folder / 'script'}; rm {folder / 'script'}; {text}"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder / ".home"), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [line.split("\t")[0] for line in done.stdout.splitlines() if line]


def offered(shell: str, folder: Path, *lines: str) -> list[list[str]]:
    """The words that may stand at the end of each line. fish also offers those that contain the last one."""
    printed = run_in(shell, folder, "; echo =; ".join(WORDS[shell].format(f"gradmill {line}") for line in lines))
    words: list[list[str]] = [[]]
    for each in printed:
        words.append([]) if each == "=" else words[-1].append(each)
    ends = [line.rsplit(" ", maxsplit=1)[-1] if shell == "fish" else "" for line in lines]
    return [[word for word in each if word.startswith(end)] for each, end in zip(words, ends, strict=True)]


OFFERED = [
    ("ex", ["explain", "export", "extend_shims="]),
    ("sp", ["specs", "specs="]),
    ("specs=core expl", ["explain"]),
    ("layout=", ["layout=upstream", "layout=split"]),
    ("families=nodes,tr", ["families=nodes,trace_type"]),
    ("check strict=", ["strict=0", "strict=1"]),
    ("show declar", ["declarations"]),
    ("schema mani", ["manifest", "manifest.units"]),
    ("rule unknown-na", ["unknown-name"]),
    ("export b", ["bazel", "backends=", "backend_yaml=", "backend_kernels="]),
    ("help expl", ["explain"]),
    ("coverage --", ["--format", "--only", "--output", "--help"]),
    ("coverage --only=no-", ["--only=no-forward"]),
    ("coverage --o=", []),
    ("--v", ["--version"]),
    ("against=", ["against=core", "against=torch", "against=git:"]),
    ("nothing begins so", []),
    ("completion z", ["zsh"]),
    ("init --h", ["--help"]),
]


@pytest.mark.parametrize("shell", SHELLS)
def test_words_of_the_tables_are_offered_without_a_run(tmp_path: Path, shell: str) -> None:
    found = offered(shell, tmp_path, *(line for line, _ in OFFERED))
    assert [sorted(words) for words in found] == [sorted(words) for _, words in OFFERED]


@pytest.mark.parametrize("shell", SHELLS)
def test_names_are_those_of_list(built: Project, shell: str) -> None:
    values = f"specs={built.specs} cache={built.cache} generated={built.generated} "
    lines = f"{values}explain ExpB", f"explain {values}emit:ExpB", f"{values}shard:Functions"
    node, unit, files = offered(shell, built.folder, *lines)
    assert (node, unit) == (["ExpBackward0"], ["emit:ExpBackward0"])
    assert sorted(files) == ["shard:Functions.cpp", "shard:Functions.h"]


@pytest.mark.parametrize("shell", SHELLS)
def test_paths_are_offered_where_a_variable_names_one(tmp_path: Path, shell: str) -> None:
    for name in ("play", "plain"):
        (tmp_path / name).mkdir()
    for name in ("plan.whl", "plot.txt", "play.toml"):
        (tmp_path / name).touch()
    names = ("specs", "generated", "stamp")
    offers = offered(shell, tmp_path, *(f"{name}=pl" for name in names))
    found = {name: sorted(words) for name, words in zip(names, offers)}
    folders = ["plain/", "play/"]
    assert found == {
        "specs": sorted(f"specs={each}" for each in [*folders, "plan.whl", "play.toml"]),
        "generated": [f"generated={each}" for each in folders],
        "stamp": sorted(f"stamp={each}" for each in [*folders, "plan.whl", "play.toml", "plot.txt"]),
    }


ASK = {  # what prints the offers for a line that a person types
    "bash": 'COMP_LINE={0!r} COMP_POINT={1}; _gradmill; printf "%s\\n" "${{COMPREPLY[@]% }}"',
    "zsh": "compadd() {{ while [[ $1 != -- ]]; do shift; done; shift; print -rl -- $@ }}; LBUFFER={0!r}; _gradmill",
}


@pytest.mark.parametrize("shell", ASK)
def test_a_shell_completes_the_rest_of_a_word(tmp_path: Path, shell: str) -> None:
    for line, words in {"gradmill expl": ["explain"], "gradmill layout=": ["split", "upstream"]}.items():
        offers = run_in(shell, tmp_path, ASK[shell].format(line, len(line)))
        assert sorted(each.rpartition("=")[2] for each in offers) == words


def test_each_command_and_variable_is_in_the_cases_and_each_word_is_one_for_a_shell() -> None:
    found = list(cases())
    patterns = {case.pattern for case in found}
    assert patterns >= {*(f"{name} -*" for name in COMMANDS), *(f"* {name}=*" for name in VARIABLES)}
    words = [word for case in found for word in case.words]
    assert [word for word in words if set(word) & set(" '\"\\$`;&|<>(){}!*?")] == []


def test_the_command_prints_the_script(tmp_path: Path) -> None:
    for shell in SHELLS:
        assert forked.gradmill(["completion", shell], tmp_path).clean().stdout == script(shell)


@pytest.mark.parametrize("words", [["nu"], []], ids=["another shell", "no shell"])
def test_a_shell_without_a_script_is_named(tmp_path: Path, words: list[str]) -> None:
    status, _, error = forked.gradmill(["completion", *words], tmp_path)
    assert status == 3
    assert error.endswith("\n  write one of bash, zsh, fish\n")
