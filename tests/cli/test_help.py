"""`gradmill --help`, `COMMAND --help`, `--version`: what a newcomer types first."""

from __future__ import annotations

import re
from pathlib import Path

import forked
import pytest
from project import ROOT

from gradmill import __version__
from gradmill.cli.commands.table import COMMANDS as TABLE
from gradmill.session.settings.variables import VARIABLES

COMMANDS = sorted(TABLE)


def gradmill(folder: Path, *words: str) -> tuple[int, str, str]:
    return forked.gradmill(list(words), folder)


def test_the_page_has_each_command_and_each_variable_once(tmp_path: Path) -> None:
    status, out, error = gradmill(tmp_path, "--help")
    assert (status, error) == (0, "")
    first = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert [name for name in (*COMMANDS, *VARIABLES) if name not in first] == []
    assert all(f"  {command.sentence}\n" in out for command in TABLE.values())
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.extension("graphs", "verify")
def test_the_reference_has_every_variable_once() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    table = page[page.index("## Variables") : page.index("## Spec sets")]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(VARIABLES)


@pytest.mark.parametrize("words", [["-h"], ["help"], ["specs=torch", "--help"]], ids=" ".join)
def test_the_page_is_shown_however_it_is_requested(tmp_path: Path, words: list[str]) -> None:
    assert gradmill(tmp_path, *words) == gradmill(tmp_path, "--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_page_with_its_options(tmp_path: Path, command: str) -> None:
    status, out, error = gradmill(tmp_path, command, "--help")
    assert (status, error) == (0, "")
    assert out.startswith(f"usage: gradmill {command}")
    assert [option.name for option in TABLE[command].options if option.name not in out] == []
    assert gradmill(tmp_path, "help", command)[1] == out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["--version"], ["version"]], ids=" ".join)
def test_the_version_is_that_of_gradmill(tmp_path: Path, words: list[str]) -> None:
    status, out, _ = gradmill(tmp_path, *words)
    assert status == 0
    assert out.startswith(f"gradmill {__version__}, for PyTorch 2.4 to 2.")


@pytest.mark.parametrize("words", [["explian", "--help"], ["help", "explian"]], ids=" ".join)
def test_help_for_what_does_not_exist_names_the_nearest_command(tmp_path: Path, words: list[str]) -> None:
    status, _, error = gradmill(tmp_path, *words)
    assert (status, error) == (3, "ERROR: there is no command 'explian'\n  did you mean 'explain'?\n")


def test_a_command_may_be_followed_by_variables_and_names(tmp_path: Path) -> None:
    assert gradmill(tmp_path, "specs=core", "explain", "exp", "--help") == gradmill(tmp_path, "help", "explain")


@pytest.mark.extension("type_stubs", "verify", "browse")
def test_the_reference_has_every_command_with_its_sentence() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    table = page[page.index("## Commands") : page.index("## Variables")]
    listed = dict(re.findall(r"^\| `(\S+)[^|]*` \| ([^|]+) \|", table, re.MULTILINE))
    assert listed == {name: command.sentence for name, command in TABLE.items()}


NEEDED = {  # words that a command needs
    "completion": ["bash"], "diff": ["against=core"], "explain": ["exp"], "export": ["ninja"], "schema": ["manifest"],
    "show": ["match"], "verify": ["exp"],
}  # fmt: skip
OF_SET = [name for name, each in TABLE.items() if name == "run" or ("specs=SET" in each.usage and name != "lsp")]
OF_NONE = [name for name, each in TABLE.items() if not ("specs=" in each.usage or each.script)]


@pytest.mark.parametrize(
    ("command", "words"), [*((name, NEEDED.get(name, [])) for name in OF_SET), ("schema", ["derivatives"])]
)
def test_in_the_folder_of_a_part_of_a_set_no_command_uses_another_one(
    tmp_path: Path, command: str, words: list[str]
) -> None:
    (tmp_path / "native_functions.yaml").touch()
    status, out, error = gradmill(tmp_path, command, *words)
    assert (status, out) == (3, "")
    assert error.startswith("ERROR: this folder has native_functions.yaml, but not all files of a spec set\n")
    assert [path.name for path in tmp_path.iterdir()] == ["native_functions.yaml"]


@pytest.mark.parametrize("command", sorted({*OF_NONE} - {"run", "worker"}))
def test_there_a_command_that_is_of_no_set_works(tmp_path: Path, command: str) -> None:
    (tmp_path / "native_functions.yaml").touch()
    assert gradmill(tmp_path, command, *NEEDED.get(command, []))[0] == 0


def test_there_the_folder_of_the_cmake_package_is_printed(tmp_path: Path) -> None:
    (tmp_path / "native_functions.yaml").touch()
    assert gradmill(tmp_path, "export", "cmakedir")[0] == 0
