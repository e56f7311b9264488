"""Completion in a shell: the words that `gradmill completion` offers, and the scripts in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import forked
import pytest
from project import Project

from pipeline.front.commands.completion import SCRIPTS

NOBODY = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]


def offered(folder: Path, line: str) -> list[str]:
    """The words that may stand at the end of a line."""
    status, out, error = forked.gradmill(["completion", f"--line=gradmill {line}"], folder)
    assert (status, error) == (0, "")
    return out.splitlines()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ex", ["explain", "export", "extend_shims="]),
        ("sp", ["specs", "specs="]),
        ("specs=core expl", ["explain"]),
        ("layout=", ["layout=upstream", "layout=split"]),
        ("families=nodes,tr", ["families=nodes,trace_type"]),
        ("strict=", ["strict=0", "strict=1"]),
        (
            "release=2.1",
            ["release=2.10", "release=2.11", "release=2.12", "release=2.13", "release=2.14", "release=2.15"],
        ),
        ("show for", ["foreach", "format="]),
        ("schema mani", ["manifest", "manifest.units"]),
        ("schema cov", ["coverage"]),
        ("rule unknown-na", ["unknown-name"]),
        ("export b", ["bazel", "backends=", "backend_yaml=", "backend_kernels="]),
        ("help expl", ["explain"]),
        ("coverage --", ["--format", "--only", "--output", "--help"]),
        ("coverage --only=no-", ["--only=no-forward"]),
        ("coverage --o=", []),
        ("explain extremum_a", ["extremum_adjoint"]),
        ("--v", ["--version"]),
        ("against=", ["against=core", "against=torch", "against=git:"]),
        ("specs=", ["specs=core", "specs=torch"]),
        ("nothing begins so", []),
        ("explain ExpB", []),
    ],
)
def test_words_are_offered_without_a_run(tmp_path: Path, line: str, words: list[str]) -> None:
    assert offered(tmp_path, line) == words
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_set_and_revisions_of_its_repository_are_offered(built: Project) -> None:
    assert "specs=." in offered(built.specs, "specs=")
    assert offered(built.specs, "diff against=git:") == ["against=git:HEAD"]
    for words in (["init", "-q", "-b", "main"], [*NOBODY, "commit", "-q", "--allow-empty", "-m", "one"], ["tag", "v1"]):
        subprocess.run(["git", "-C", built.specs, *words], check=True)
    assert offered(built.specs, "diff against=git:") == ["against=git:HEAD", "against=git:main", "against=git:v1"]
    assert offered(built.specs, "diff against=git:v") == ["against=git:v1"]


def test_names_of_the_last_run_are_offered(built: Project) -> None:
    values = f"specs={built.specs} cache={built.cache} "
    assert offered(built.folder, f"{values}explain ExpB") == ["ExpBackward0"]
    assert offered(built.folder, f"{values}explain exp") == ["exp"]
    assert offered(built.folder, f"{values}emit:ExpB") == ["emit:ExpBackward0"]
    assert offered(built.folder, f"{values}shard:Functions") == ["shard:Functions.h", "shard:Functions.cpp"]
    assert offered(built.folder, f"{values}explain derivatives") == ["derivatives", "derivatives.yaml:"]
    assert offered(built.folder, f"{values}explain sinc_") == ["sinc_backward"]
    assert offered(built.folder, f"{values}show infos ExpB") == ["ExpBackward0"]
    assert offered(built.folder, f"{values}show emit:ExpB") == ["emit:ExpBackward0"]


def test_paths_are_offered_where_a_variable_names_one(tmp_path: Path) -> None:
    for name in ("a folder", "plain"):
        (tmp_path / name).mkdir()
    for name in ("plan.whl", "plot.txt", "play.toml"):
        (tmp_path / name).touch()
    assert offered(tmp_path, "specs=pl") == ["specs=plain/", "specs=plan.whl", "specs=play.toml"]
    assert offered(tmp_path, "generated=pl") == ["generated=plain/"]
    assert offered(tmp_path, "specs=a") == []  # a word with a space would be two


@pytest.mark.parametrize("words", [["nu"], []], ids=["another shell", "no shell"])
def test_a_shell_without_a_script_is_named(tmp_path: Path, words: list[str]) -> None:
    status, _, error = forked.gradmill(["completion", *words], tmp_path)
    assert status == 3
    assert error.endswith("\n  write one of bash, zsh, fish\n")


COMPLETED = {  # what a person types -> what a shell offers then
    "gradmill expl": ["explain"],
    "gradmill layout=": ["split", "upstream"],
    "gradmill coverage --only=no-": ["no-forward"],
    "gradmill completion z": ["zsh"],
}
ASK = {
    "bash": 'COMP_LINE={0!r} COMP_POINT={1}; _gradmill; printf "%s\\n" "${{COMPREPLY[@]% }}"',
    "zsh": "compadd() {{ while [[ $1 != -- ]]; do shift; done; shift; print -rl -- $@ }}; LBUFFER={0!r}; _gradmill",
    "fish": "complete -C {0!r}",
}


@pytest.mark.parametrize("line", COMPLETED)
@pytest.mark.parametrize("shell", ASK)
def test_a_shell_with_the_script_offers_them(tmp_path: Path, shell: str, line: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell])
    ask = ASK[shell].format(line, len(line))
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    first = "compdef() { }; " if shell == "zsh" else ""  # zsh has it, and compadd, where a person types
    out = subprocess.run(
        [shell, "-c", f"{first}source {script}; {ask}"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    offers = [each.split("\t")[0].rpartition("=")[2] for each in out.splitlines() if each]
    assert sorted(offers) == COMPLETED[line]


@pytest.mark.parametrize("line", ["", "show ", "clean ", "list "])
def test_units_and_files_are_offered_once_their_group_is_typed(built: Project, line: str) -> None:
    values = f"specs={built.specs} cache={built.cache} "
    words = offered(built.folder, f"{values}{line}")
    assert {"emit:", "shard:"} <= set(words) and "emit:ExpBackward0" not in words
    assert set(offered(built.folder, f"{values}{line}em")) == {"emit", "emit:"}
    assert "shard:Functions.cpp" in offered(built.folder, f"{values}{line}shard:Fun")
