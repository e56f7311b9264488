"""A spec set: the location of each input."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from gradmill.doors import extensions
from gradmill.problems.problem import Role
from gradmill.specs.location import DESCRIPTION, DIFF, PACKAGED_TEMPLATES, Location

if TYPE_CHECKING:
    from gradmill.specs.layers.description import Described


class Templates(Struct, frozen=True):
    """The names of the templates of all output families."""

    main: tuple[str, ...]  # those that output files are rendered from; a spec set may lack those of a family
    added: tuple[str, ...]  # those that files of extensions include; read only if there are such files


# By role: a file's name in a flat folder, its path in torchgen/packaged, and in a checkout; "" if it is not there.
_FILES = {
    "native": (
        "native_functions.yaml",
        "ATen/native/native_functions.yaml",
        "aten/src/ATen/native/native_functions.yaml",
    ),
    "tags": ("tags.yaml", "ATen/native/tags.yaml", "aten/src/ATen/native/tags.yaml"),
    "derivatives": ("derivatives.yaml", "autograd/derivatives.yaml", "tools/autograd/derivatives.yaml"),
    "deprecated": ("deprecated.yaml", "autograd/deprecated.yaml", "tools/autograd/deprecated.yaml"),
    "backend": ("ts_native_functions.yaml", "", "aten/src/ATen/native/ts_native_functions.yaml"),
    "shape_inference": ("shape_inference.h", "", "torch/csrc/lazy/core/shape_inference.h"),
    "backend_kernels": ("ts_native_functions.cpp", "", "torch/csrc/lazy/ts_backend/ts_native_functions.cpp"),
    "external_backend": ("the YAML file of a backend", "", ""),
    "external_kernels": ("the C++ file with its kernels", "", ""),
    "fallback_ops": ("fallback_ops.py", "../aoti/fallback_ops.py", "torchgen/aoti/fallback_ops.py"),
}
for _extension in extensions().values():
    _FILES |= _extension.files
FILE_NAMES, PACKAGED, CHECKOUT = ({role: at[i] for role, at in _FILES.items() if at[i]} for i in range(3))
ROLES: tuple[Role, ...] = ("native", "tags", "derivatives", "deprecated")
NEEDED = ("native", "tags", "derivatives")
# A spec set may lack these files, and only some families read them.
OPTIONAL = (*(role for role in _FILES if role not in NEEDED), "native_aot")


class SpecSet(Struct, frozen=True):
    """The location of each input of one spec set."""

    name: str  # names the folders in generated/ and cache/
    files: dict[str, Location]  # role -> YAML file; in a described set, source key -> file
    templates: dict[str, Location]  # name -> template
    version: str  # the PyTorch release that the set names, "" if it names none
    template_comment: str = PACKAGED_TEMPLATES
    version_file: str = ""  # the file that names the release, "" if there is none
    looked_for: tuple[str, ...] = ()  # other paths that decide what the set is; they may be missing
    described: Described | None = None
    headers: dict[str, Location] = {}  # name -> header that declares functions for formulas
    whole: bool = False  # whether the set has all functions of its release, and the header of its helpers
    in_development: bool = False  # whether the set is a checkout: its release is still being developed
    has_place: bool = True  # whether the user keeps its files somewhere; False: they come with Python, and have a name
    generator: dict[str, Location] = {}  # path in a checkout -> file of PyTorch's own generator; they may be missing

    def inputs(self) -> list[tuple[str, Location]]:
        """Every input with its label, which contains no path of this machine."""
        names = self.names()
        return [(names[key], at) for key, at in self.files.items()] + [
            (f"templates/{name}", location) for name, location in self.templates.items()
        ]

    def names(self) -> dict[str, str]:
        """The name of each file in reports: its path within the set, without any path of this machine."""
        known = {source.key: source.file for source in self.described.sources} if self.described is not None else {}
        return {
            key: known.get(key) or key.partition(DIFF)[2] or os.path.basename(at.member or at.path)
            for key, at in self.files.items()
        }

    @property
    def owner(self) -> str:
        """What identifies the set where it owns a folder: the absolute path, as it was named, of its description or
        else of its first file. So a link that is switched to another version leads to the same set. The name of a set
        that comes with Python: each environment has it elsewhere."""
        if not self.has_place:
            return self.name
        first = self.files.get(DESCRIPTION) or next(iter(self.files.values()))
        return os.path.abspath(first.path)
