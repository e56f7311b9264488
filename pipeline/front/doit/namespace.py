"""doit's view of a build: tasks and settings, as a dodo.py has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doit import create_after

from pipeline.front.doit.action import without_traceback
from pipeline.front.doit.backend import OTHERS, Codec
from pipeline.front.doit.reporter import reporter_for
from pipeline.front.doit.tasks import Task, Tasks
from pipeline.front.run.build import Build


def namespace(build: Build) -> dict[str, Any]:
    """The names that doit looks up: task creators, DOIT_CONFIG, and TASKS for gradmill's commands."""
    tasks = Tasks(build)

    def task_stages() -> Iterator[Task]:
        yield from tasks.stages()

    @create_after(executed="match")  # type: ignore[untyped-decorator]
    def task_emit() -> Iterator[Task]:
        """print the C++ of each unit"""
        with without_traceback():
            yield from tasks.units()

    @create_after(executed="emit")  # type: ignore[untyped-decorator]
    def task_shard() -> Iterator[Task]:
        """assemble each generated file"""
        with without_traceback():
            yield from tasks.files()

    @create_after(executed="match")  # type: ignore[untyped-decorator]
    def task_manifest() -> Task | None:
        """describe the generated files and their inputs for other build systems"""
        with without_traceback():
            return tasks.manifest()

    return {
        "TASKS": tasks,
        "DOIT_CONFIG": {
            "backend": "gradmill",
            "codec_cls": Codec,
            "default_tasks": [*build.stages.analysis, "emit", "shard", "manifest"],
            "dep_file": build.paths.notes + OTHERS,
            "reporter": reporter_for(tasks),
            "verbosity": 2,
        },
        "task_stages": task_stages,
        "task_emit": task_emit,
        "task_shard": task_shard,
        "task_manifest": task_manifest,
    }
