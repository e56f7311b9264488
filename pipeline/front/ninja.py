"""The whole graph as a Ninja file: a rule per stage and shard, so that Ninja alone decides what to run.

Every edge calls doit for one task and asks for a stamp of what that task made. A stamp keeps its time when nothing
changed, and `restat` makes Ninja stop there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from pipeline.build.engine import Build
from pipeline.graph import ANALYSIS, AnalysisStep, SpecsStep
from pipeline.graph_output import shard_steps


def ninja_file(build: Build, root: str, variables: Iterable[str]) -> str:
    """The text of the Ninja file. `root` is the folder of dodo.py, `variables` those of the command line."""
    stamps = os.path.abspath(os.path.join(build.config.folder, "stamps"))
    command = " ".join([sys.executable, "-m", "doit", *variables])
    lines = [
        "# Written by `doit export ninja`. Rebuilds itself when the set of generated files changes.",
        "ninja_required_version = 1.8",
        f"builddir = {_path(stamps)}",  # where Ninja keeps its log
        "",
        "rule doit",
        f"  command = cd {_shell(root)} && {command} $task stamp=$stamp",
        "  description = doit $task",
        "  restat = 1",
        "",
    ]
    sources = [os.path.abspath(path) for path in build.sources.all_files(relative=False)]
    specs = [os.path.abspath(location.path) for location in build.config.specs.files.values()]
    for step in ANALYSIS:
        inputs = specs if isinstance(step, SpecsStep) else []
        if isinstance(step, AnalysisStep):
            inputs = [os.path.join(stamps, stage) for stage in dict.fromkeys(take.stage for take in step.takes)]
        lines += _edge([os.path.join(stamps, step.name)], step.name, os.path.join(stamps, step.name), inputs, sources)
    match = os.path.join(stamps, "match")
    generated = []
    for shard in shard_steps(build):
        template = build.config.specs.templates.get(shard.file.template)
        inputs = [match, *([os.path.abspath(template.path)] if template is not None else [])]
        path = os.path.abspath(shard.path(build))
        stamp = os.path.join(stamps, shard.file.name)
        lines += _edge([path], shard.name, stamp, inputs, sources)
        generated.append(path)
    lines += [f"build generated: phony {' '.join(map(_path, dict.fromkeys(generated)))}", "default generated", ""]
    return "\n".join(lines)


def _edge(outputs: list[str], task: str, stamp: str, inputs: list[str], sources: list[str]) -> list[str]:
    """One build statement; gradmill's own code is an implicit input of all."""
    implicit = " ".join(map(_path, dict.fromkeys(sources)))
    made = " ".join(map(_path, outputs))
    also = "" if stamp in outputs else f" | {_path(stamp)}"
    return [
        f"build {made}{also}: doit {' '.join(map(_path, dict.fromkeys(inputs)))} | {implicit}",
        f"  task = {task}",
        f"  stamp = {stamp}",
        "",
    ]


def _path(path: str) -> str:
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def _shell(path: str) -> str:
    return "'" + path.replace("'", "'\\''").replace("$", "$$") + "'"
