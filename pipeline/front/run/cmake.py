"""The generated files as CMake variables, for `gradmill_generate` of gradmill's CMake package, and for `outputs=`.

The file names decide what is compiled. `*Everything.*` repeats all shards, and `templates/` has intermediate
templates: both are left out. Python bindings are a separate list.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from pipeline.front.run.build import Build
from pipeline.model.layers import role_of
from pipeline.specs.location import DESCRIPTION

_SOURCE = re.compile(r"(?!(?:.*/)?templates/)(?!.*Everything\.\w+$).*\.(cpp|cc|cxx)")
_PYTHON = re.compile(r"(?:.*/)?python_\w*\.(cpp|h)")


def cmake_variables(build: Build) -> str:
    """The text of a file that CMake includes: variables with lists of absolute paths."""
    lists = {**file_lists(names := list(build.written_files())), "outputs": names}
    variables = {name: [os.path.abspath(build.path(each)) for each in files] for name, files in lists.items()}
    paths = {"manifest": build.paths.manifest, "units": build.paths.units}
    variables |= {name: [os.path.abspath(path)] for name, path in paths.items()}
    variables["templates"] = _template_folders(build)
    variables["configure_depends"] = _decides_files(build)
    return "".join(f"set(gradmill_{name} {quoted(values)})\n" for name, values in variables.items())


def file_lists(names: Sequence[str]) -> dict[str, list[str]]:
    """Generated files, by their part in a build: `sources` and `python_sources` are compiled, `others` are not."""
    compiled = [name for name in names if _SOURCE.fullmatch(name)]
    return {
        "sources": [name for name in compiled if not _PYTHON.fullmatch(name)],
        "python_sources": [name for name in compiled if _PYTHON.fullmatch(name)],
        "others": [name for name in names if not _SOURCE.fullmatch(name)],
    }


def _template_folders(build: Build) -> list[str]:
    """The folders of the spec set's templates, which may also hold its own headers."""
    own = (at.path for at in build.config.specs.templates.values() if not at.member)
    folders = dict.fromkeys(os.path.dirname(os.path.abspath(path)) for path in own)
    return [folder for folder in folders if os.path.isdir(folder)]  # a set may lack one, with all templates in it


def _decides_files(build: Build) -> list[str]:
    """The inputs, other than templates, that decide the list of generated files. CMake reruns if one changes."""
    specs = build.config.specs
    described = [at.path for key, at in specs.files.items() if role_of(key) == DESCRIPTION]
    version = [specs.version_file] if specs.version_file else []
    return [os.path.abspath(path) for path in (*described, *version, *build.config.graphs.paths())]


def quoted(values: Iterable[str]) -> str:
    """Words of CMake's language."""
    return " ".join(f"[==[{value}]==]" for value in values)
