"""`doit export FORMAT`: gradmill as a rule of another build system."""

from __future__ import annotations

import os
import sys
from typing import Any

from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.exports import ninja
from pipeline.front.run.build import Build
from pipeline.problems.plain import escaped
from pipeline.problems.problem import SpecError, nearest

FORMATS = ("ninja", "cmake", "cmakedir")


class Export(BuildCommand):
    """Prints what another build system needs to run gradmill."""

    name = "export"
    doc_purpose = "print a rule for another build system"
    doc_usage = "ninja|cmake|cmakedir [specs=SET …]"
    doc_description = (
        "ninja: a file to include or to run, all paths absolute: doit export ninja > build.ninja. cmake: the generated"
        " files as variables, for gradmill_generate of gradmill's CMake package. cmakedir: the folder of that package,"
        " cmake -Dgradmill_DIR=…"
    )

    def work(self, build: Build, options: dict[str, Any], arguments: list[str]) -> int:
        wanted = " ".join(arguments)
        if wanted not in FORMATS:
            problem = f"export: no format '{wanted}'" if wanted else "export: name a format"
            raise SpecError(problem, nearest(wanted, FORMATS) or f"formats: {', '.join(FORMATS)}")
        if wanted == "cmakedir":
            sys.stdout.write(f"{os.path.dirname(os.path.abspath(ninja.__file__))}\n")
            return 0
        for value in (*ninja.absolute(build, self.variables()).values(), *build.inputs.spec_paths()):
            if escaped(value) != value:
                raise SpecError(
                    f"export {wanted}: {value}: a name has a control character", "rename the file or folder"
                )
        check(build, map(build.stages.root, build.stages.analysis))
        sys.stdout.write(self._text(build, wanted))
        keep(build)
        return 0

    def _text(self, build: Build, wanted: str) -> str:
        if wanted == "ninja":
            return ninja.ninja_file(build, ninja.absolute(build, self.variables()))
        from pipeline.front.run.cmake import cmake_variables

        return cmake_variables(build)
