"""Spec sets: the location of each input.

A set is the embedded `core`, the installed torch, a PyTorch checkout, a folder, a wheel, or a `specset.toml` that
describes layers over one of these.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import partial
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pipeline.problems.problem import Role, SpecError, nearest
from pipeline.specs.headers import IN_CHECKOUT, IN_PACKAGE, MANUAL, headers_of
from pipeline.specs.location import (
    CHECKOUT_TEMPLATES,
    DESCRIPTION,
    DIFF,
    NAME,
    PACKAGED_TEMPLATES,
    Location,
    packages_around,
)
from pipeline.specs.version import version_files, version_in, version_in_line, version_in_one_of

if TYPE_CHECKING:
    from pipeline.specs.layers.described import BaseSet
    from pipeline.specs.layers.description import Described

__all__ = ["ROLES", "Location", "SpecSet", "Templates", "find_spec_set"]


class Templates(Struct, frozen=True):
    """The names of the templates of all output families."""

    needed: tuple[str, ...]
    optional: tuple[str, ...]  # a spec set may lack these; the files made from them are then not generated
    for_graphs: tuple[str, ...]  # headers from the set that graphs include; read only if there are graphs

    @property
    def main(self) -> tuple[str, ...]:
        """The templates that output files are rendered from."""
        return (*self.needed, *self.optional)


_ENCRYPTED = 1  # a flag of a zip file's member
_FLAT = {
    "native": "native_functions.yaml",
    "tags": "tags.yaml",
    "derivatives": "derivatives.yaml",
    "deprecated": "deprecated.yaml",
    "backend": "ts_native_functions.yaml",
    "shape_inference": "shape_inference.h",
    "backend_kernels": "ts_native_functions.cpp",
}
_PACKAGED = {
    "native": "ATen/native/native_functions.yaml",
    "tags": "ATen/native/tags.yaml",
    "derivatives": "autograd/derivatives.yaml",
    "deprecated": "autograd/deprecated.yaml",
}
_CHECKOUT = {
    "native": "aten/src/ATen/native/native_functions.yaml",
    "tags": "aten/src/ATen/native/tags.yaml",
    "derivatives": "tools/autograd/derivatives.yaml",
    "deprecated": "tools/autograd/deprecated.yaml",
    "backend": "aten/src/ATen/native/ts_native_functions.yaml",
    "shape_inference": "torch/csrc/lazy/core/shape_inference.h",
    "backend_kernels": "torch/csrc/lazy/ts_backend/ts_native_functions.cpp",
}
_CHECKOUT_TEMPLATES = "tools/autograd/templates"
_ATEN = "ATen/"  # templates with a name that begins so are ATen's
# The folders of ATen's templates, by that of the others.
_ATEN_TEMPLATES = {
    "templates": "templates/ATen",
    "autograd/templates": "ATen/templates",
    _CHECKOUT_TEMPLATES: "aten/src/ATen/templates",
}
FILE_NAMES = _FLAT  # by role
ROLES: tuple[Role, ...] = ("native", "tags", "derivatives", "deprecated")
# A spec set may lack these files, and only some families read them.
OPTIONAL: tuple[Role, ...] = ("deprecated", "backend", "shape_inference", "backend_kernels")


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
            key: known.get(key)
            or key.partition(DIFF)[2]
            or _described_name(key)
            or os.path.basename(at.member or at.path)
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

    def former_owner(self) -> str:
        """The owner of the same folder without its `specset.toml`; "" if it would not be a spec set then."""
        described = self.files.get(DESCRIPTION)
        folder, name = os.path.split(described.path if described is not None else "")
        if name != NAME:
            return ""
        try:
            return _folder(folder or os.curdir, self.name, Templates((), (), ())).owner
        except SpecError:
            return ""


def _described_name(key: str) -> str:
    """The name in reports of a description that is a base; "" for another file."""
    path = key.removeprefix(f"{DESCRIPTION}:")
    return "" if path == key else os.path.basename(path) if os.path.isabs(path) else path


def find_spec_set(specs: str, known: Templates, release: str = "") -> SpecSet:
    """The set that `specs` names: `core`, `torch`, or the path of a folder, a wheel or a description.

    `known` are the templates that it may have. `release` is the PyTorch release to read it as, "" to take the one
    that the set names. Raises a SpecError if there is no such set, or its description is wrong.
    """
    if specs in ("core", "torch"):
        return _plain(specs, known)
    path = os.path.join(specs, NAME) if os.path.isdir(specs) else specs
    if path.endswith(".toml") and os.path.isfile(path):
        return _described(path, known, release)
    plain = _plain(specs, known)
    return replace(plain, looked_for=(path, *plain.looked_for)) if path != specs else plain


def mark_of_set(folder: str) -> str:
    """The file that identifies a folder as a spec set, "" if it is none."""
    places = (NAME, *(layout["native"] for layout in (_FLAT, _PACKAGED, _CHECKOUT)))
    return next((place for place in places if os.path.isfile(os.path.join(folder, place))), "")


_NEEDED: tuple[Role, ...] = ("native", "tags", "derivatives")
_LAYOUTS = ((_FLAT, "templates"), (_PACKAGED, "autograd/templates"), (_CHECKOUT, _CHECKOUT_TEMPLATES))


def marks() -> tuple[str, ...]:
    """The paths in a folder that decide what `mark_of_set` and `wholes` return."""
    return (NAME, *(path for layout, templates in _LAYOUTS for path in (*(layout[r] for r in _NEEDED), templates)))


def wholes(folder: str) -> list[str]:
    """The files that identify the complete sets in a folder. One of several that has a description is this alone."""
    if os.path.isfile(os.path.join(folder, NAME)):
        return [NAME]
    return [
        layout["native"]
        for layout, templates in _LAYOUTS
        if all(os.path.isfile(os.path.join(folder, layout[role])) for role in _NEEDED)
        and os.path.isdir(os.path.join(folder, templates))
    ]


def _described(path: str, known: Templates, release: str) -> SpecSet:
    from pipeline.specs.layers.described import find_described

    resolved = find_described(path, release, partial(_base, known))
    return SpecSet(
        resolved.name,
        resolved.files,
        resolved.templates,
        resolved.version,
        version_file=resolved.version_file,
        looked_for=resolved.looked_for,
        described=resolved.described,
        headers=resolved.headers,
        template_comment=resolved.base.template_comment,
        whole=resolved.base.whole,
    )


def _base(known: Templates, specs: str, folder: str) -> BaseSet | str:
    """The base that a description names, or the path of its own description. Paths are relative to `folder`, that of
    the description that names it.

    Without a base, the set has templates only, in `templates/` of that folder. A folder with a description that is a
    set without it, too, is read without it.
    """
    from pipeline.specs.layers.described import BaseSet

    if not specs:
        return BaseSet({}, {t: Location(os.path.join(folder, "templates", t)) for t in known.main})
    path = specs if specs in ("core", "torch") else os.path.normpath(os.path.join(folder, specs))
    if path.endswith(".toml") and os.path.isfile(path):
        return path
    try:
        base = _plain(path, known)
    except SpecError:
        if not os.path.isfile(os.path.join(path, NAME)):
            raise
        return os.path.join(path, NAME)
    return BaseSet(
        base.files,
        base.templates,
        base.version,
        base.version_file or base.name,
        base.looked_for,
        base.headers,
        base.template_comment,
        base.whole,
    )


def _plain(specs: str, known: Templates) -> SpecSet:
    if specs in ("core", "torch"):
        folder = _core_folder() if specs == "core" else _torch_folder()
        return replace(_folder(folder, specs, known), has_place=False)
    if os.path.isdir(specs):
        return _folder(specs, os.path.basename(os.path.abspath(specs)), known)
    if specs.endswith(".whl") and os.path.isfile(specs):
        return _wheel(specs, known)
    hint = (
        nearest(specs, ("core", "torch"))
        or "write core, torch, or the path of a folder, of a torch .whl, or of a specset.toml"
    )
    raise SpecError(f"specs={specs}: there is no such spec set", hint)


def _core_folder() -> str:
    """The embedded set: next to the package in a clone, inside the package when installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    for folder in (os.path.join(root, "specs", "core"), os.path.join(here, "core")):
        if os.path.isdir(folder):
            return os.path.relpath(folder) if folder.startswith(os.getcwd() + os.sep) else folder
    raise SpecError("specs=core: the embedded set is missing", "install gradmill again")


def _torch_folder() -> str:
    module = PathFinder.find_spec("torchgen", sys.path)
    locations = module.submodule_search_locations if module is not None else None
    if not locations:
        raise SpecError("specs=torch: no torch package is installed", "pip install torch, or name a folder or a wheel")
    return os.path.join(next(iter(locations)), "packaged")


def _folder(folder: str, name: str, known: Templates) -> SpecSet:
    folder = os.path.normpath(folder)
    checkout = tuple(os.path.join(folder, _CHECKOUT[role]) for role in ("native", "derivatives"))
    if all(map(os.path.isfile, checkout)):
        return _checkout(name, folder, known, checkout)
    candidates = (folder, os.path.join(folder, "packaged"), os.path.join(folder, "torchgen", "packaged"))
    packaged = tuple(os.path.join(candidate, _PACKAGED["native"]) for candidate in candidates)
    looked_for = (*checkout, *packaged)
    for candidate, path in zip(candidates, packaged):
        if os.path.isfile(path):
            packages = packages_around(candidate)
            return _set(name, candidate, _PACKAGED, "autograd/templates", known, looked_for, packages)
    if os.path.isfile(os.path.join(folder, _FLAT["native"])):
        return _set(name, folder, _FLAT, "templates", known, looked_for)
    raise SpecError(
        f"{folder}: no native_functions.yaml",
        "a spec set is a flat folder (native_functions.yaml, tags.yaml, derivatives.yaml, templates/),"
        " one laid out as torchgen/packaged, or a PyTorch checkout",
    )


def _set(
    name: str,
    folder: str,
    layout: dict[str, str],
    templates: str,
    known: Templates,
    looked_for: tuple[str, ...],
    packages: str = "",
) -> SpecSet:
    near = version_files(folder, packages)
    version, version_file = version_in_one_of(near)
    files, located = _located(folder, layout, templates, known)
    header = os.path.join(packages, IN_PACKAGE) if packages else ""
    headers = headers_of(folder, os.path.join(folder, templates), known.main, header)
    return SpecSet(
        name,
        files,
        located,
        version,
        version_file=version_file,
        looked_for=(*looked_for, *_optional(folder, layout), *near, *headers.looked_for),
        headers=headers.by_name,
        whole=headers.whole,
    )


def _located(
    folder: str, layout: dict[str, str], templates: str, known: Templates
) -> tuple[dict[str, Location], dict[str, Location]]:
    """The YAML files by role, and the templates."""

    def at(*path: str) -> Location:
        return Location(os.path.normpath(os.path.join(folder, *path)))

    files = {role: at(path) for role, path in layout.items()}
    files = {role: each for role, each in files.items() if role not in OPTIONAL or os.path.exists(each.path)}
    return files, {name: at(_template(templates, name)) for name in (*known.main, *known.for_graphs)}


def _template(folder: str, name: str) -> str:
    """The path of a template."""
    return f"{_ATEN_TEMPLATES[folder]}/{name.removeprefix(_ATEN)}" if name.startswith(_ATEN) else f"{folder}/{name}"


def _optional(folder: str, layout: dict[str, str]) -> list[str]:
    """The paths of the YAML files that a set may lack."""
    return [os.path.normpath(os.path.join(folder, layout[role])) for role in OPTIONAL if role in layout]


def _checkout(name: str, folder: str, known: Templates, looked_for: tuple[str, ...]) -> SpecSet:
    """A PyTorch checkout. Its `torchgen/packaged`, where a build leaves copies of the files, is ignored: the copies
    may be out of date."""
    version_file = os.path.normpath(os.path.join(folder, "version.txt"))
    version = version_in_line(version_file)
    files, templates = _located(folder, _CHECKOUT, _CHECKOUT_TEMPLATES, known)
    header = os.path.normpath(os.path.join(folder, IN_CHECKOUT))
    headers = headers_of(folder, os.path.join(folder, _CHECKOUT_TEMPLATES), known.main, header)
    return SpecSet(
        name,
        files,
        templates,
        version or "",
        version_file="" if version is None else version_file,
        looked_for=(*looked_for, *_optional(folder, _CHECKOUT), version_file, *headers.looked_for),
        headers=headers.by_name,
        whole=headers.whole,
        template_comment=CHECKOUT_TEMPLATES,
        in_development=True,
    )


def with_generator(specs: SpecSet, paths: Iterable[str]) -> SpecSet:
    """A checkout with the files of its generator that have these paths in it; another set as it is."""
    if not specs.in_development:
        return specs
    root = specs.files["native"].path.removesuffix(_CHECKOUT["native"])
    return replace(specs, generator={path: Location(os.path.join(root, path)) for path in paths})


def _wheel(path: str, known: Templates) -> SpecSet:
    from zipfile import BadZipFile

    from pipeline.io.zips import BoundedZip

    prefix = "torchgen/packaged/"
    try:
        with BoundedZip(path) as archive:
            members = {info.filename: info.flag_bits & _ENCRYPTED for info in archive.infolist()}
    except (BadZipFile, OSError) as error:
        raise SpecError(f"{path}: not a wheel: {error}", "download it again") from error
    if prefix + _PACKAGED["native"] not in members:
        raise SpecError(f"{path}: the wheel does not contain torchgen/packaged", "name a wheel of torch")
    if any(members.values()):
        raise SpecError(f"{path}: the wheel is encrypted", "name a wheel as pip downloads it")
    known_files = {role: prefix + member for role, member in _PACKAGED.items()}
    files = {role: Location(path, at) for role, at in known_files.items() if role not in OPTIONAL or at in members}
    names = (*known.main, *known.for_graphs)
    templates = {name: Location(path, prefix + _template("autograd/templates", name)) for name in names}
    name = "-".join(os.path.basename(path).split("-")[:2])
    headers = {MANUAL: Location(path, IN_PACKAGE)} if IN_PACKAGE in members else {}
    version = _version_in(path) if "torch/version.py" in members else ""
    return SpecSet(name, files, templates, version, headers=headers, whole=bool(headers))


def _version_in(path: str) -> str:
    """The release that a torch wheel names in its version.py; raises a SpecError if it cannot be read."""
    try:
        text = Location(path, "torch/version.py").read().decode("utf-8", "replace")
    except OSError as error:
        raise SpecError(f"{path}: torch/version.py: {error.strerror}", "download it again") from error
    return version_in(text)
