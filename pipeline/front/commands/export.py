"""`doit export FORMAT`: the build graph for another build system."""

from __future__ import annotations

import os
import sys
from typing import Any

from doit import doit_cmd

from pipeline.build.engine import Build
from pipeline.build.ensure import ensure_analysis
from pipeline.build.sources import PACKAGE
from pipeline.front.commands.command import BuildCommand
from pipeline.problems.problem import SpecError, nearest


class Export(BuildCommand):
    """Prints the whole graph as a file of another build system."""

    name = "export"
    doc_purpose = "print the build graph for another build system"
    doc_usage = "ninja [specs=SET …]"
    doc_description = "Paths in the file are absolute; write it where you like: doit export ninja > build.ninja"

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.front.ninja import ninja_file

        if arguments != ["ninja"]:
            wanted = " ".join(arguments)
            raise SpecError(f"export: no format '{wanted}'", nearest(wanted, ["ninja"]) or "formats: ninja")
        ensure_analysis(build)
        variables = [f"{name}={value}" for name, value in (doit_cmd._CMDLINE_VARS or {}).items()]
        sys.stdout.write(ninja_file(build, os.path.dirname(PACKAGE), variables))
        return 0
