"""`doit export FORMAT`: gradmill as a rule of another build system."""

from __future__ import annotations

import sys
from typing import Any

from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.run.build import Build
from pipeline.problems.problem import SpecError, nearest


class Export(BuildCommand):
    """Prints what another build system needs to run gradmill, as a file of its own."""

    name = "export"
    doc_purpose = "print a rule for another build system"
    doc_usage = "ninja [specs=SET …]"
    doc_description = "Paths in the file are absolute; write it where you like: doit export ninja > build.ninja"

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        from pipeline.front.ninja import absolute, ninja_file

        if arguments != ["ninja"]:
            wanted = " ".join(arguments)
            problem = f"export: no format '{wanted}'" if wanted else "export: name a format"
            raise SpecError(problem, nearest(wanted, ["ninja"]) or "formats: ninja")
        check(build, map(build.root, build.analysis))
        sys.stdout.write(ninja_file(build, absolute(build, self.variables())))
        keep(build)
        return 0
