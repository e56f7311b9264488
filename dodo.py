"""gradmill's tasks: the stages, one task a Node, one task a generated file. See README.md."""

from collections.abc import Iterator
from typing import Any

from doit import create_after
from doit.doit_cmd import _CMDLINE_VARS

from pipeline.build.engine import state_path
from pipeline.build.reporter import Reporter
from pipeline.build.tasks import build_for, check_asked, configure, known_nodes, node_tasks, step_task
from pipeline.graph import ANALYSIS
from pipeline.graph_output import ManifestStep, remove_orphans, shard_steps
from pipeline.graph_shard import TemplatesStep

CONFIG = configure(_CMDLINE_VARS or {})

DOIT_CONFIG = {
    "backend": "gradmill",
    "default_tasks": [*(step.name for step in ANALYSIS), "emit", "shard", "manifest"],
    "dep_file": state_path(CONFIG),
    "reporter": Reporter,
    "verbosity": 2,
}

Task = dict[str, Any]


def _analysis(name: str, *task_dep: str) -> Task:
    step = next(step for step in ANALYSIS if step.name == name)
    return step_task(step, build_for(CONFIG), task_dep=list(task_dep))


def task_specs() -> Task:
    """read the YAML files into raw entries"""
    return _analysis("specs")


def task_schemas() -> Task:
    """parse operator schemas, generate missing variants"""
    return _analysis("schemas", "specs")


def task_derivatives() -> Task:
    """read the raw derivative definitions"""
    return _analysis("derivatives", "specs")


def task_infos() -> Task:
    """work out differentiability infos and name the Nodes"""
    return _analysis("infos", "derivatives", "schemas")


def task_foreach() -> Task:
    """synthesize infos of foreach functions"""
    return _analysis("foreach", "schemas", "infos")


def task_match() -> Task:
    """match every native function with its infos"""
    return _analysis("match", "schemas", "infos", "foreach")


@create_after(executed="match")  # type: ignore[untyped-decorator]
def task_emit() -> Iterator[Task]:
    """print the C++ of each Node"""
    build = build_for(CONFIG)
    for step in node_tasks(build):
        yield step_task(step, build, name=step.row.node, doc=step.row.schema)


@create_after(executed="match")  # type: ignore[untyped-decorator]
def task__templates() -> Task | None:
    """check the templates before anything is written"""
    build = build_for(CONFIG)
    return step_task(TemplatesStep(tuple(shard_steps(build))), build) if known_nodes(build) else None


@create_after(executed="_templates", target_regex=r".*\.(h|cpp)$")  # type: ignore[untyped-decorator]
def task_shard() -> Iterator[Task]:
    """assemble each generated file"""
    build = build_for(CONFIG)
    steps = shard_steps(build) if known_nodes(build) else []
    check_asked(steps, build)
    if build.in_run:
        remove_orphans(build, steps)
    for step in steps:
        yield step_task(step, build, name=step.file.name, targets=[step.path(build)], task_dep=["emit"], clean=True)


@create_after(executed="match")  # type: ignore[untyped-decorator]
def task_manifest() -> Iterator[Task]:
    """tell other build systems what was generated from what"""
    build = build_for(CONFIG)
    if known_nodes(build):
        step = ManifestStep(tuple(shard_steps(build)))
        yield step_task(step, build, basename="manifest", targets=[step.path(build)], task_dep=["shard"], clean=True)
