"""A command line without `specs=` uses the spec set of the working folder, if the folder is one."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pipeline.problems.plain import lines
from pipeline.problems.problem import SpecError
from pipeline.specs.find import mark_of_set, marks, wholes

HERE = os.curdir


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
