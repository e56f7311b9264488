"""gradmill as one rule of a Ninja file, with every generated file as an output.

An unchanged file keeps its modification time, and `restat` makes Ninja stop there. The depfile lists gradmill's inputs.
All paths are absolute: the Ninja file works in any folder, also when another one includes it (`include`).

If a rule leaves some outputs unchanged, Ninja records for them the time of the newest input that the Ninja file names,
because it has not read the depfile yet. Without such an input, files of an earlier run would cost one more run. If it
is a graph that is then deleted, Ninja names it and runs nothing: its outputs no longer exist, so a new export is due.
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
# Written by `gradmill export ninja`: export again when the set of generated files changes, as by a deleted graph.
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
    """The text of the Ninja file. `variables`: those of gradmill's command line, from `absolute`."""
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
    """The path with the latest modification time among the spec files and gradmill's `__init__.py`."""
    stats = {path: stat_of(path) for path in (*build.inputs.spec_paths(), os.path.join(PACKAGE, "__init__.py"))}
    return max((stat[1], path) for path, stat in stats.items() if stat is not None)[1]


def absolute(build: Build, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command line with absolute paths, sorted, so that they are valid in every folder."""
    config = build.config
    kept = {name: value for name, value in variables.items() if name not in ("stamp", "against", "against_release")}
    specs = kept.get("specs", "core")
    if specs not in ("core", "torch"):
        kept["specs"] = os.path.abspath(specs)
    if config.graphs.root:
        kept["graphs"] = os.path.abspath(config.graphs.root)
    if config.operators:
        kept["operators"] = os.path.abspath(config.operators)
    kept |= {"generated": os.path.abspath(config.generated), "cache": os.path.abspath(config.cache)}
    return dict(sorted(kept.items()))  # in a stable order: Ninja rebuilds everything if a command changes


def _paths(paths: Iterable[str]) -> str:
    return " ".join(map(_path, paths))


def _path(path: str) -> str:
    return _value(path).replace(" ", "$ ").replace(":", "$:")


def _value(text: str) -> str:
    return text.replace("$", "$$")
