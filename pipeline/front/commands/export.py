"""`doit export FORMAT`: gradmill as a rule of another build system."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from pipeline.front import exports
from pipeline.front.commands.command import BuildCommand, check, keep
from pipeline.front.exports.command import absolute
from pipeline.problems.plain import escaped
from pipeline.problems.problem import SpecError, nearest
from pipeline.specs.location import DESCRIPTION
from pipeline.specs.spec_set import SpecSet

FORMATS = ("ninja", "cmake", "bazel")  # modules of `exports`; `rule_file` of each returns the text to print
_FOLDER = "cmakedir"  # prints a folder, and looks at no spec set
_SPECS = "specsdir"  # prints the folder of the spec set


class Export(BuildCommand):
    """Prints what another build system needs to run gradmill."""

    name = "export"
    doc_purpose = "print a rule for another build system"
    doc_usage = "ninja|cmake|bazel|cmakedir|specsdir [specs=SET …]"
    doc_description = (
        "ninja: a file to include or to run: gradmill export ninja > build.ninja. cmake: a file to include, with the"
        " rule, and the generated files as variables. bazel: a file to load, gradmill.bzl, with the rule and lists of"
        " its files. All paths in them are absolute. cmakedir: the folder of gradmill's CMake package, for cmake"
        " -Dgradmill_DIR=… specsdir: the folder of the spec set, to copy it: cp -r $(gradmill export specsdir) mine"
    )

    def execute(self, opt_values: dict[str, Any], pos_args: list[str]) -> int:
        self.names_set = pos_args != [_FOLDER]
        return super().execute(opt_values, pos_args)

    def work(self, options: dict[str, Any], arguments: list[str]) -> int:
        wanted = " ".join(arguments)
        names = (*FORMATS, _FOLDER, _SPECS)
        if wanted not in names:
            problem = f"export: no format '{wanted}'" if wanted else "export: name a format"
            raise SpecError(problem, nearest(wanted, names) or f"formats: {', '.join(names)}")
        if wanted == _FOLDER:
            sys.stdout.write(f"{os.path.dirname(os.path.abspath(exports.__file__))}\n")
            return 0
        if wanted == _SPECS:
            sys.stdout.write(f"{_folder_of(self.build.config.specs)}\n")
            return 0
        for value in (*absolute(self.build, self.variables()).values(), *self.build.inputs.spec_paths()):
            if escaped(value) != value:
                raise SpecError(
                    f"export {wanted}: {value}: a name has a control character", "rename the file or folder"
                )
        check(self.build, map(self.build.stages.root, self.build.stages.analysis))
        sys.stdout.write(import_module(f"{exports.__name__}.{wanted}").rule_file(self.build, self.variables()))
        keep(self.build)
        return 0


def _folder_of(specs: SpecSet) -> str:
    """The absolute path of the folder with all files of a set; of a described set, that of its description."""
    places = [specs.files[DESCRIPTION]] if DESCRIPTION in specs.files else [at for _, at in specs.inputs()]
    archive = next((at.path for at in places if at.member), "")
    if archive:
        raise SpecError(f"export {_SPECS}: {archive}: the spec set is inside an archive", "unpack it first")
    return os.path.commonpath([os.path.dirname(os.path.abspath(at.path)) for at in places])
