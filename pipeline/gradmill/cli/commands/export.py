"""`gradmill export FORMAT`: gradmill as a rule of another build system."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from gradmill.builds import exports
from gradmill.builds.exports.command import absolute
from gradmill.cli.commands.request import Request, check
from gradmill.problems.plain import escaped
from gradmill.problems.problem import SpecError, nearest
from gradmill.specs.location import DESCRIPTION
from gradmill.specs.spec_set import SpecSet

FORMATS = ("ninja", "cmake", "bazel")  # modules of `exports`; `rule_file` of each returns the text to print
_FOLDER = "cmakedir"  # prints a folder, and looks at no spec set
_SPECS = "specsdir"  # prints the folder of the spec set


def main(request: Request) -> int:
    """Prints what another build system needs to run gradmill."""
    wanted = " ".join(request.names)
    names = (*FORMATS, _FOLDER, _SPECS)
    if wanted not in names:
        problem = f"export: no format '{wanted}'" if wanted else "export: name a format"
        raise SpecError(problem, nearest(wanted, names) or f"formats: {', '.join(names)}")
    if wanted == _FOLDER:
        sys.stdout.write(f"{os.path.dirname(os.path.abspath(exports.__file__))}\n")
        return 0
    if wanted == _SPECS:
        sys.stdout.write(f"{_folder_of(request.config().specs)}\n")
        return 0
    with request.open() as session:
        variables = absolute(session, request.settings())
        for value in (*variables.values(), *session.inputs.spec_paths()):
            if escaped(value) != value:
                problem = f"export {wanted}: {value}: a name has a control character"
                raise SpecError(problem, "rename the file or folder")
        check(session, map(session.stages.root, session.stages.analysis))
        sys.stdout.write(import_module(f"{exports.__name__}.{wanted}").rule_file(session, variables))
        session.save_if_first()
    return 0


def _folder_of(specs: SpecSet) -> str:
    """The absolute path of the folder with all files of a set; of a described set, that of its description."""
    places = [specs.files[DESCRIPTION]] if DESCRIPTION in specs.files else [at for _, at in specs.inputs()]
    if archive := next((at.path for at in places if at.member), ""):
        raise SpecError(f"export {_SPECS}: {archive}: the spec set is inside an archive", "unpack it first")
    return os.path.commonpath([os.path.dirname(os.path.abspath(at.path)) for at in places])
