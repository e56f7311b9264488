"""Lists of generated files for CMake: as variables, for `gradmill_generate` of gradmill's CMake package and for
`outputs=`; and with `cmake_lists=` those of ATen's files, which PyTorch's own CMake includes.

The file names decide what is compiled. `*Everything.*` repeats all shards, and `templates/` has intermediate
templates: both are left out. Python bindings are a separate list.

torchgen: `utils.FileManager.write_outputs`, `gen.main`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gradmill.model.layers import role_of
from gradmill.model.regex import regex
from gradmill.session.build import Build
from gradmill.session.output.outputs import OUTPUTS
from gradmill.specs.location import DESCRIPTION

if TYPE_CHECKING:
    from gradmill.query.query import Parts
    from gradmill.releases.model import Release

_SOURCE = regex(r"(?!(?:.*/)?templates/)(?!.*Everything\.\w+$).*\.(cpp|cc|cxx)")
_PYTHON = regex(r"(?:.*/)?python_\w*\.(cpp|h)")
_UNLISTED = regex(r".*Everything\.\w+|(?:.*/)?c_shim_\w+\.(?:cpp|h)")
_HEADER_ONLY = regex(r"(?:.*/)?enum_tag\.h")
_VECTORIZED = regex(r"UfuncCPUKernel_\w+\.cpp")
_DEVICE = regex(
    r"(?:Register)?(?:Quantized|Sparse|SparseCsr|NestedTensor|Autograd)?(CUDA|XPU)(?:Functions(?:_inl)?\.h|(?:_\d+)?\.cpp)"
    r"|Ufunc(CUDA)_\w+\.cu"
)
_FOLDERS = {"core": "core_", "ops": "ops_"}


def lists_for_builds(build: Build) -> dict[str, Parts]:
    """The contents of the files that `outputs=` and `cmake_lists=` name, by path."""
    from gradmill.query.query import Parts

    named = build.config.outputs
    variables = {named: Parts([(OUTPUTS + cmake_variables(build)).encode()])} if named else {}
    return {**output_lists(build), **variables}


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
    added = [at.path for each in build.config.added.values() for at in each.files().values()]
    return [os.path.abspath(path) for path in (*described, *version, *added)]


def quoted(values: Iterable[str]) -> str:
    """Words of CMake's language."""
    return " ".join(f"[==[{value}]==]" for value in values)


# ---- ATen's files


def output_lists(build: Build) -> dict[str, Parts]:
    """The contents of the lists, by path; none without `cmake_lists=`."""
    from gradmill.query.query import Parts
    from gradmill.stages.set import release

    lists = build.config.output_lists
    if not lists:
        return {}
    facts = release(build.db)
    members: dict[str, list[str]] = {prefix: [] for prefix in lists}
    for name in build.written_files():
        prefix = list_of(name, facts)
        if prefix is not None:
            members[prefix if prefix in lists else ""].append(_path(build.config.generated, name, facts))
    stem = os.path.splitext(os.path.basename(lists[""]))[0]
    return {lists[prefix]: Parts([_text(prefix + stem, paths, facts).encode()]) for prefix, paths in members.items()}


def list_of(name: str, release: Release) -> str | None:
    """The prefix of the list that has a file, None if none has. `name`: as `Build.written_files` has it."""
    if _UNLISTED.fullmatch(name) or (release.header_only_tags and _HEADER_ONLY.fullmatch(name)):
        return None
    if device := _DEVICE.fullmatch(name):
        return f"{(device[1] or device[2]).lower()}_"
    return "cpu_vec_" if _VECTORIZED.fullmatch(name) else _FOLDERS.get(os.path.dirname(name), "")


def _path(folder: str, name: str, release: Release) -> str:
    return str(PurePosixPath(folder, name)) if release.normal_paths else f"{folder}/{name}"


def _text(variable: str, paths: list[str], release: Release) -> str:
    quoted = [f'"{path}"' for path in sorted(paths)]
    if release.normal_paths:
        return "\n".join(["set(", variable, *(f"    {path}" for path in quoted), ")"])
    listed = "\n    ".join(quoted)
    return f"set({variable}\n    {listed})"
