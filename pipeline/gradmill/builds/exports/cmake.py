"""gradmill as a rule of CMake: the generated files as variables, and the custom command that generates them.

`gradmill_generate` of gradmill's CMake package includes the same text. All paths are absolute: the file is valid in any
folder, and includes nothing. The newest input is named for the reason that `ninja.py` has: for files of an earlier run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from gradmill.builds.exports.command import ROOT, newest_input, words
from gradmill.problems.problem import SpecError
from gradmill.session.build import Build
from gradmill.session.cmake import cmake_variables, quoted

_TEXT = Path(__file__).with_name("files.cmake.in").read_text(encoding="utf-8")
_SPECIAL = (";", "]==]", "$<")  # CMake ends or expands words there, also in brackets


def rule_file(build: Build, variables: Mapping[str, str]) -> str:
    """The text of the file. `variables`: those of gradmill's command line, absolute. SpecError if CMake cannot have a
    path."""
    command, newest = words(variables), os.path.abspath(newest_input(build))
    text = cmake_variables(build)
    text += f"set(gradmill_folder {quoted([os.path.abspath(build.config.generated)])})\n"
    text += f"set(gradmill_torch {quoted(_installed_torch())})\n"
    for word in (*command, ROOT, newest):
        special = next((each for each in _SPECIAL if each in word), "")
        if special:
            raise SpecError(f"export cmake: {word}: CMake cannot have '{special}' in a path", "rename the folder")
    values = {"variables": text, "command": quoted(command), "root": quoted([ROOT]), "newest": quoted([newest])}
    return re.sub(r"@(\w+)@", lambda hole: values[hole[1]], _TEXT)


def _installed_torch() -> list[str]:
    """The folder of the torch package next to gradmill; none if it is not installed. It is not imported."""
    module = PathFinder.find_spec("torch", sys.path)
    return list(module.submodule_search_locations or [])[:1] if module is not None else []
