"""The whole graph as a Ninja file: a rule per stage and generated file, so that Ninja alone decides what to run.

Every edge calls gradmill for one task and asks for a stamp of what that task made. A stamp keeps its time when nothing
changed, and `restat` makes Ninja stop there. All paths are absolute: the file works wherever it is put.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping

from msgspec import Struct

from pipeline.front.run.build import Build
from pipeline.front.run.inputs import PACKAGE

_CODE = "gradmill_code"
_HEAD = """\
# Written by `gradmill export ninja`: export again when the set of generated files changes.
ninja_required_version = 1.8
builddir = {stamps}

pool gradmill
  depth = 1

rule gradmill
  command = cd {root} && {command} $task stamp=$stamp
  description = gradmill $task
  restat = 1
  pool = gradmill

"""


class Edge(Struct, frozen=True):
    """One build statement. `outputs`: what it makes beside its stamp."""

    task: str
    stamp: str
    inputs: list[str]
    outputs: tuple[str, ...] = ()


def ninja_file(build: Build, variables: Mapping[str, str], after: Mapping[str, list[str]]) -> str:
    """The text of the Ninja file. `variables` are those of the command line, `after` says what each stage reads."""
    stamps = os.path.abspath(os.path.join(build.config.folder, "stamps"))
    command = [sys.executable, "-m", "pipeline", *(f"{name}={value}" for name, value in variables.items())]
    head = _HEAD.format(
        stamps=_path(stamps), root=_value(shlex.quote(os.path.dirname(PACKAGE))), command=_value(shlex.join(command))
    )
    code = _paths(map(os.path.abspath, build.inputs.code_paths()))
    made = list(_edges(build, stamps, after))
    generated = [path for edge in made for path in edge.outputs]
    text = "".join(map(_statement, made))
    return f"{head}build {_CODE}: phony {code}\n\n{text}build generated: phony {_paths(generated)}\ndefault generated\n"


def _edges(build: Build, stamps: str, after: Mapping[str, list[str]]) -> Iterable[Edge]:
    specs = build.config.specs
    for stage in build.analysis:
        inputs = [os.path.join(stamps, other) for other in after[stage]]
        read = [at.path for at in specs.files.values()] if stage == "specs" else []
        read += build.config.graphs.paths() if stage == "graphs" else []
        yield Edge(stage, os.path.join(stamps, stage), [*inputs, *map(os.path.abspath, read)])
    shards = []
    for file in build.files():
        template = specs.templates.get(file.template)
        before = ("match", "graphs") if file.whole else ("match",)
        inputs = [
            *(os.path.join(stamps, stage) for stage in before),
            *([os.path.abspath(template.path)] if template is not None else []),
        ]
        shards.append(os.path.join(stamps, file.name))
        yield Edge(f"shard:{file.name}", shards[-1], inputs, (os.path.abspath(build.path(file.name)),))
    yield Edge("manifest", os.path.join(stamps, "manifest"), shards, (os.path.abspath(build.manifest_path),))


def _statement(edge: Edge) -> str:
    """A build statement; gradmill's own code is an implicit input of all."""
    made = f"{_paths(edge.outputs)} | {_path(edge.stamp)}" if edge.outputs else _path(edge.stamp)
    return (
        f"build {made}: gradmill {_paths(dict.fromkeys(edge.inputs))} | {_CODE}\n"
        f"  task = {_value(edge.task)}\n"
        f"  stamp = {_value(shlex.quote(edge.stamp))}\n\n"
    )


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
