"""gradmill as one rule of a Ninja file, with every generated file as an output.

A file that did not change keeps its time, and `restat` makes Ninja stop there; what gradmill reads the depfile says.
All paths are absolute: the file works wherever it is put, also within another one (`include`).

Ninja takes a rule that left some outputs as they are for done at the time of the newest input that the file names, and
before a depfile is read that is all that it knows: without any, files of an earlier run cost one more run.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping

from pipeline.front.run.build import Build
from pipeline.front.run.own_code import PACKAGE
from pipeline.io.files import stat_of

_TEXT = """\
# Written by `gradmill export ninja`: export again when the set of generated files changes.
ninja_required_version = 1.8
builddir = {folder}

rule gradmill
  command = cd {root} && {command}
  description = gradmill
  depfile = {manifest}.d
  deps = gcc
  restat = 1

build {manifest} | {generated}: gradmill | {newest}

build generated: phony {generated}
default {manifest}
"""


def ninja_file(build: Build, variables: Mapping[str, str]) -> str:
    """The text of the Ninja file. `variables` are those of the command line."""
    command = [sys.executable, "-m", "pipeline", *(f"{name}={value}" for name, value in variables.items())]
    return _TEXT.format(
        folder=_path(os.path.abspath(os.path.join(build.config.folder, "ninja"))),
        root=_value(shlex.quote(os.path.dirname(PACKAGE))),
        command=_value(shlex.join(command)),
        manifest=_path(os.path.abspath(build.paths.manifest)),
        newest=_path(os.path.abspath(_newest(build))),
        generated=_paths(os.path.abspath(build.path(name)) for name in build.file_names()),
    )


def _newest(build: Build) -> str:
    """The spec file, or gradmill itself, whichever changed last."""
    stats = {path: stat_of(path) for path in (*build.inputs.spec_paths(), os.path.join(PACKAGE, "__init__.py"))}
    return max((stat[1], path) for path, stat in stats.items() if stat is not None)[1]


def absolute(build: Build, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command line so that they mean the same in every folder."""
    config = build.config
    found = {name: value for name, value in variables.items() if name not in ("stamp", "against", "against_release")}
    specs = found.get("specs", "core")
    if specs not in ("core", "torch"):
        found["specs"] = os.path.abspath(specs)
    if config.graphs.given:
        found["graphs"] = os.path.abspath(config.graphs.given)
    found |= {"generated": os.path.abspath(config.generated), "cache": os.path.abspath(config.cache)}
    return dict(sorted(found.items()))  # Ninja makes everything anew where a command is another one


def _paths(paths: Iterable[str]) -> str:
    return " ".join(map(_path, paths))


def _path(path: str) -> str:
    return _value(path).replace(" ", "$ ").replace(":", "$:")


def _value(text: str) -> str:
    return text.replace("$", "$$")
