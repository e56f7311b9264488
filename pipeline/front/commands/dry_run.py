"""`torchgen --dry-run`: writes the lists of generated files, and no generated file."""

from __future__ import annotations

from typing import Any

from pipeline.front.commands.command import BuildCommand, fail_for, keep
from pipeline.front.console import print_report
from pipeline.front.doit.loader import PackageLoader
from pipeline.front.run.build import WRITES, Build
from pipeline.front.run.cmake import output_lists
from pipeline.front.run.places import check_build_files


class DryRun(BuildCommand):
    """Does the work of a run but for the files. What it computed stays in the cache. `loader`: opens the build."""

    names_set = False

    def __init__(self, loader: PackageLoader) -> None:
        super().__init__()
        self._loader = loader

    def open(self) -> Build:
        return self._loader.open(WRITES)

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        build = self.build
        fail_for(build, problems := build.problems())
        check_build_files(build)
        lists = output_lists(build)
        build.outputs.put(
            {path: data for path, data in lists.items() if not build.outputs.has_digest(path, data.digest)}
        )
        keep(build)
        print_report(problems.report, build.config.format)
        return 0
