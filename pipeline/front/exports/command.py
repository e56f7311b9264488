"""gradmill's command line in the rules of other build systems: valid in any folder."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping

from pipeline.front.run.build import Build
from pipeline.front.run.own_code import PACKAGE
from pipeline.io.files import stat_of

ROOT = os.path.dirname(PACKAGE)  # the folder to run the command in
_LEFT_OUT = ("stamp", "against", "against_release")
_PATHS = ("depfile", "outputs", "remote_token", "remote_ca")  # variables that name files


def absolute(build: Build, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command line with absolute paths, sorted, so that they are valid in every folder."""
    config = build.config
    kept = {name: value for name, value in variables.items() if name not in _LEFT_OUT}
    specs = kept.get("specs", "core")
    if specs not in ("core", "torch"):
        kept["specs"] = os.path.abspath(specs)
    if config.graphs.root:
        kept["graphs"] = os.path.abspath(config.graphs.root)
    if config.operators:
        kept["operators"] = os.path.abspath(config.operators)
    kept |= {name: os.path.abspath(kept[name]) for name in _PATHS if kept.get(name)}
    kept |= {"generated": os.path.abspath(config.generated), "cache": os.path.abspath(config.cache)}
    return dict(sorted(kept.items()))  # in a stable order: Ninja rebuilds everything if a command changes


def words(variables: Mapping[str, str]) -> list[str]:
    """The command with these variables, to be run in ROOT."""
    return [sys.executable, "-m", "pipeline", *(f"{name}={value}" for name, value in variables.items())]


def shell(variables: Mapping[str, str]) -> str:
    """The same for a shell, which may be in any folder."""
    return f"cd {shlex.quote(ROOT)} && {shlex.join(words(variables))}"


def newest_input(build: Build) -> str:
    """The path with the latest modification time among the spec files and gradmill's `__init__.py`."""
    stats = {path: stat_of(path) for path in (*build.inputs.spec_paths(), os.path.join(PACKAGE, "__init__.py"))}
    return max((stat[1], path) for path, stat in stats.items() if stat is not None)[1]
