"""gradmill's command line in the rules of other build systems: valid in any folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from gradmill.io.files import stat_of
from gradmill.session.build import Build
from gradmill.session.own_code import PACKAGE
from gradmill.session.settings.variables import VARIABLES

ROOT = os.path.dirname(PACKAGE)  # the folder to run the command in


def absolute(build: Build, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command line with absolute paths, sorted, so that they are valid in every folder."""
    config, kept = build.config, {}
    for name, value in variables.items():
        variable = VARIABLES[name]
        if variable.exported:
            kept[name] = os.path.abspath(value) if variable.is_path(value) else value
    kept |= {"generated": os.path.abspath(config.generated), "cache": os.path.abspath(config.cache)}
    kept.setdefault("specs", VARIABLES["specs"].default)
    return dict(sorted(kept.items()))  # in a stable order: Ninja rebuilds everything if a command changes


def words(variables: Mapping[str, str]) -> list[str]:
    """The command with these variables and no others, to be run in ROOT."""
    return [
        sys.executable,
        "-m",
        "gradmill",
        "settings=none",
        *(f"{name}={value}" for name, value in variables.items()),
    ]


def newest_input(build: Build) -> str:
    """The path with the latest modification time among the spec files and gradmill's `__init__.py`."""
    stats = {path: stat_of(path) for path in (*build.inputs.spec_paths(), os.path.join(PACKAGE, "__init__.py"))}
    return max((stat[1], path) for path, stat in stats.items() if stat is not None)[1]
