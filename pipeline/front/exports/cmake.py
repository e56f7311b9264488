"""gradmill's files as variables of CMake, for `gradmill_generate` of the CMake package beside this module.

What is compiled is a matter of names: a file that repeats all shards is not, nor is what VariableType's template
becomes on the way; Python bindings are for libraries that want them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pipeline.front.run.build import Build
from pipeline.specs.location import DESCRIPTION

FOLDER = os.path.dirname(os.path.abspath(__file__))  # of gradmillConfig.cmake, for find_package

_SOURCE = re.compile(r"(?!templates/)(?!.*Everything\.\w+$).*\.(cpp|cc|cxx)")
_PYTHON = re.compile(r"python_functions\w*\.(cpp|h)")


def cmake_variables(build: Build) -> str:
    """A text that CMake can include: lists of absolute paths, and the manifest's."""
    names = build.file_names()
    plain = [name for name in names if not _PYTHON.fullmatch(name)]
    python = [name for name in names if _PYTHON.fullmatch(name)]
    lists = {
        "sources": filter(_SOURCE.fullmatch, plain),
        "python_sources": filter(_SOURCE.fullmatch, python),
        "others": (name for name in names if not _SOURCE.fullmatch(name)),
    }
    found = {name: [os.path.abspath(build.path(each)) for each in files] for name, files in lists.items()}
    found |= {"manifest": [os.path.abspath(build.paths.manifest)], "templates": _template_folders(build)}
    found["configure_depends"] = _decides_files(build)
    return "".join(f"set(gradmill_{name} {_list(values)})\n" for name, values in found.items())


def _template_folders(build: Build) -> list[str]:
    """Where the spec set's templates are: headers of its own may stand beside them."""
    own = [at.path for at in build.config.specs.templates.values() if not at.member]
    return list(dict.fromkeys(os.path.dirname(os.path.abspath(path)) for path in own))


def _decides_files(build: Build) -> list[str]:
    """What says which generated files there are, and is no template: the lists are made anew when it changes."""
    specs = build.config.specs
    described = [specs.files[DESCRIPTION].path] if DESCRIPTION in specs.files else []
    version = [specs.version_file] if specs.version_file else []
    return [os.path.abspath(path) for path in (*described, *version, *build.config.graphs.paths())]


def _list(values: Iterable[str]) -> str:
    return " ".join(f"[==[{value}]==]" for value in values)
