"""`cmake_lists=`: lists of ATen's generated files, which PyTorch's CMake includes.

torchgen: `utils.FileManager.write_outputs`, `gen.main`.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pipeline.front.run.build import Build
from pipeline.model.regex import regex

if TYPE_CHECKING:
    from pipeline.query.query import Parts
    from pipeline.releases.model import Release

_UNLISTED = regex(r".*Everything\.\w+|(?:.*/)?c_shim_\w+\.(?:cpp|h)")
_HEADER_ONLY = regex(r"(?:.*/)?enum_tag\.h")
_VECTORIZED = regex(r"UfuncCPUKernel_\w+\.cpp")
_DEVICE = regex(
    r"(?:Register)?(?:Quantized|Sparse|SparseCsr|NestedTensor|Autograd)?(CUDA|XPU)(?:Functions(?:_inl)?\.h|(?:_\d+)?\.cpp)"
    r"|Ufunc(CUDA)_\w+\.cu"
)
_FOLDERS = {"core": "core_", "ops": "ops_"}


def output_lists(build: Build) -> dict[str, Parts]:
    """The contents of the lists, by path; none without `cmake_lists=`."""
    from pipeline.query.query import Parts
    from pipeline.stages.set import release

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
