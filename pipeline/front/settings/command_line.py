"""The variables of doit's command line, in commands and in a dodo.py. `gradmill` reads its own (`start/main.py`)."""

from __future__ import annotations

import sys

from doit import get_var

from pipeline.front.settings.hints import unknown_variable
from pipeline.front.settings.variables import VARIABLES
from pipeline.io.files import read_file

_DODO, _TASKS = "dodo.py", b"pipeline.front.doit.loader"  # the module that a dodo.py with gradmill's tasks imports


def all_variables() -> dict[str, str]:
    """The variables by name, unknown ones too. doit has the values, and no list of names: `sys.argv` has those."""
    words = [word.partition("=")[0] for word in sys.argv[1:] if "=" in word]
    values = {name: get_var(name, None) for name in (*VARIABLES, *words)}
    return {name: value for name, value in values.items() if value is not None}


def known_variables() -> dict[str, str]:
    """The variables that gradmill has: others are those of another project's tasks."""
    return {name: value for name, value in all_variables().items() if name in VARIABLES}


def unknown_in_clone() -> str:
    """The error for an unknown variable in a folder with gradmill's tasks, "" if there is none. In that of another
    project it is a variable of its own tasks."""
    unknown = [f"{name}={value}" for name, value in all_variables().items() if name not in VARIABLES]
    return unknown_variable(unknown) if unknown and _TASKS in (read_file(_DODO) or b"") else ""
