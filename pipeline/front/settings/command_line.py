"""The variables of doit's command line, in commands and in a dodo.py. `gradmill` reads its own (`start/main.py`).

A command line without `specs=` uses the spec set of the working folder, if the folder is one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from doit import get_var

from pipeline.front.settings.hints import unknown_variable
from pipeline.front.settings.variables import VARIABLES
from pipeline.io.files import read_file
from pipeline.problems.plain import lines
from pipeline.problems.problem import SpecError
from pipeline.specs.find import mark_of_set, marks, wholes

HERE = os.curdir
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


def with_folder(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables, with `specs=.` in the folder of a set if they name none. SpecError if the folder has only a part
    of a set, or several: neither it nor the default is certainly meant."""
    mark = "" if "specs" in variables else mark_of_set(HERE)
    if not mark:
        return dict(variables)
    found = wholes(HERE)
    if len(found) != 1:
        why = f"several sets: {', '.join(found)}" if found else f"{mark}, but not all files of a spec set"
        raise SpecError(f"this folder has {why}", "write specs=. to use it, or specs=core for the included set")
    return {**variables, "specs": HERE}


def notice(variables: Mapping[str, str]) -> str:
    """The line about a set that `with_folder` took; "" if it took none, or if reports are for machines."""
    if "specs" in variables or variables.get("format", "text") not in ("text", "github"):
        return ""
    mark = mark_of_set(HERE)
    return lines([f"specs=.: the spec set of this folder, which has {mark}"]) if mark else ""


def looked_for() -> tuple[str, ...]:
    """The paths in the working folder that decide what `with_folder` returns."""
    return tuple(os.path.join(HERE, place) for place in marks())
