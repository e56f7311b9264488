"""Finds spec sets: the embedded `core`, the installed torch, a PyTorch checkout, a folder, a wheel, or a `specset.toml`
that describes layers over one of these.
"""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterable
from functools import partial
from importlib.machinery import PathFinder

from msgspec.structs import replace

from gradmill.problems.problem import SpecError, nearest
from gradmill.specs.headers import IN_CHECKOUT, IN_PACKAGE, MANUAL, headers_of
from gradmill.specs.location import CHECKOUT_TEMPLATES, DESCRIPTION, NAME, Location, packages_around
from gradmill.specs.spec_set import CHECKOUT, FILE_NAMES, NEEDED, PACKAGED, SpecSet, Templates
from gradmill.specs.version import version_files, version_in, version_in_one_of

_ENCRYPTED = 1  # a flag of a zip file's member
_CHECKOUT_TEMPLATES = "tools/autograd/templates"
_ATEN = "ATen/"  # templates with a name that begins so are ATen's
# The folders of ATen's templates, by that of the others.
_ATEN_TEMPLATES = {
    "templates": "templates/ATen",
    "autograd/templates": "ATen/templates",
    _CHECKOUT_TEMPLATES: "aten/src/ATen/templates",
}


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


def set_file_in(folder: str) -> str:
    """The file that identifies a folder as a spec set, "" if it is none."""
    places = (NAME, *(layout["native"] for layout in (FILE_NAMES, PACKAGED, CHECKOUT)))
    return next((place for place in places if os.path.isfile(os.path.join(folder, place))), "")


_LAYOUTS = ((FILE_NAMES, "templates"), (PACKAGED, "autograd/templates"), (CHECKOUT, _CHECKOUT_TEMPLATES))


def set_files() -> tuple[str, ...]:
    """The paths in a folder that decide what `set_file_in` and `wholes` return."""
    return (NAME, *(path for layout, templates in _LAYOUTS for path in (*(layout[r] for r in NEEDED), templates)))


def wholes(folder: str) -> list[str]:
    """The files that identify the complete sets in a folder. One of several that has a description is this alone."""
    if os.path.isfile(os.path.join(folder, NAME)):
        return [NAME]
    return [
        layout["native"]
        for layout, templates in _LAYOUTS
        if all(os.path.isfile(os.path.join(folder, layout[role])) for role in NEEDED)
        and os.path.isdir(os.path.join(folder, templates))
    ]


def set_around(folders: Iterable[str], *, complete: bool = False) -> tuple[str, str]:
    """The nearest spec set among folders, the innermost first: its folder, and the file that identifies it; "" twice if
    there is none. SpecError for a folder with several sets, or with files of a set that none around it contains;
    `complete`: such folders are passed over."""
    part = ("", "")
    for folder in folders:
        set_file = set_file_in(folder)
        found = wholes(folder) if set_file else []
        if len(found) == 1:
            if part == ("", "") or _contains(folder, found[0], part):
                return folder, found[0]
            break
        if set_file and not complete:
            if found:
                raise SpecError(f"{_this(folder)} has several sets: {', '.join(found)}", _which(folder))
            part = part if part[1] else (folder, set_file)
    if part[1]:
        raise SpecError(f"{_this(part[0])} has {part[1]}, but not all files of a spec set", _which(part[0]))
    return "", ""


def _contains(folder: str, set_file: str, part: tuple[str, str]) -> bool:
    """Whether a set has a file in a folder below it; one with a description may have any."""
    return set_file == NAME or os.path.samefile(os.path.join(folder, set_file), os.path.join(*part))


def _this(folder: str) -> str:
    return "this folder" if folder == os.curdir else folder


def _which(folder: str) -> str:
    return f"write specs={folder} to use it, or specs=core for the included set"


def former_owner(specs: SpecSet) -> str:
    """The owner of a set's folder without its `specset.toml`; "" if it would not be a spec set then."""
    described = specs.files.get(DESCRIPTION)
    folder, name = os.path.split(described.path if described is not None else "")
    if name != NAME:
        return ""
    try:
        return _folder(folder or os.curdir, specs.name, Templates((), ())).owner
    except SpecError:
        return ""


def _described(path: str, known: Templates, release: str) -> SpecSet:
    from gradmill.specs.layers.described import find_described

    return find_described(path, release, partial(_base, known))


def _base(known: Templates, specs: str, folder: str) -> SpecSet:
    """The base that a description names, whose folder paths are relative to. The base's `version_file` is its name if
    no file names its release.

    Without a base, the set has templates only, in `templates/` of that folder. A folder with a description that is a
    set without it, too, is read without it.
    """
    if not specs:
        return SpecSet("", {}, {name: Location(os.path.join(folder, "templates", name)) for name in known.main}, "")
    path = specs if specs in ("core", "torch") else os.path.normpath(os.path.join(folder, specs))
    try:
        base = _plain(path, known)
    except SpecError as error:
        if os.path.isfile(path if path.endswith(".toml") else os.path.join(path, NAME)):
            hint = "name its base, and its files as layers of this description"
            raise SpecError(f"'{specs}' is a description, which cannot be a base", hint) from error
        raise
    return replace(base, version_file=base.version_file or base.name)


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
    root = os.path.dirname(os.path.dirname(os.path.dirname(here)))
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
    checkout = tuple(os.path.join(folder, CHECKOUT[role]) for role in ("native", "derivatives"))
    if all(map(os.path.isfile, checkout)):
        version, header = (os.path.normpath(os.path.join(folder, each)) for each in ("version.txt", IN_CHECKOUT))
        found = _set(name, folder, _LAYOUTS[2], known, checkout, (version,), header)
        return replace(found, template_comment=CHECKOUT_TEMPLATES, in_development=True)
    # A checkout's `torchgen/packaged`, where a build leaves copies of the files, may be out of date.
    candidates = (folder, os.path.join(folder, "packaged"), os.path.join(folder, "torchgen", "packaged"))
    packaged = tuple(os.path.join(candidate, PACKAGED["native"]) for candidate in candidates)
    looked_for = (*checkout, *packaged)
    for candidate, path in zip(candidates, packaged):
        if os.path.isfile(path):
            packages = packages_around(candidate)
            header = os.path.join(packages, IN_PACKAGE) if packages else ""
            near = version_files(candidate, packages)
            return _set(name, candidate, _LAYOUTS[1], known, looked_for, near, header)
    if os.path.isfile(os.path.join(folder, FILE_NAMES["native"])):
        return _set(name, folder, _LAYOUTS[0], known, looked_for, version_files(folder, ""))
    raise SpecError(
        f"{folder}: no native_functions.yaml",
        "a spec set is a flat folder (native_functions.yaml, tags.yaml, derivatives.yaml, templates/),"
        " one laid out as torchgen/packaged, or a PyTorch checkout",
    )


def _set(
    name: str,
    folder: str,
    layout: tuple[dict[str, str], str],
    known: Templates,
    looked_for: tuple[str, ...],
    near: tuple[str, ...],
    header: str = "",
) -> SpecSet:
    """The set in a folder. `near`: the files that may name its release; `header`: the place of the release's header."""

    def at(*path: str) -> Location:
        return Location(os.path.normpath(os.path.join(folder, *path)))

    files, templates = layout
    located = {role: at(path) for role, path in files.items()}
    optional = {role: each.path for role, each in located.items() if role not in NEEDED}
    version, version_file = version_in_one_of(near)
    headers = headers_of(folder, os.path.join(folder, templates), known.main, header)
    return SpecSet(
        name,
        {role: each for role, each in located.items() if role not in optional or os.path.exists(each.path)},
        {name: at(_template(templates, name)) for name in (*known.main, *known.added)},
        version,
        version_file=version_file,
        looked_for=(*looked_for, *optional.values(), *near, *headers.looked_for),
        headers=headers.by_name,
        whole=headers.whole,
    )


def _template(folder: str, name: str) -> str:
    """The path of a template. One that is in no folder of templates is called by its path in a checkout."""
    if name.startswith(_ATEN):
        return f"{_ATEN_TEMPLATES[folder]}/{name.removeprefix(_ATEN)}"
    return name if "/" in name and folder == _CHECKOUT_TEMPLATES else f"{folder}/{name}"


def with_generator(specs: SpecSet, paths: Iterable[str]) -> SpecSet:
    """A checkout with the files of its generator that have these paths in it; another set as it is."""
    if not specs.in_development:
        return specs
    root = specs.files["native"].path.removesuffix(CHECKOUT["native"])
    return replace(specs, generator={path: Location(os.path.join(root, path)) for path in paths})


def _wheel(path: str, known: Templates) -> SpecSet:
    from zipfile import BadZipFile, ZipFile

    prefix = "torchgen/packaged/"
    try:
        with ZipFile(path) as archive:
            members = {info.filename: info.flag_bits & _ENCRYPTED for info in archive.infolist()}
    except (BadZipFile, OSError) as error:
        raise SpecError(f"{path}: not a wheel: {error}", "download it again") from error
    if prefix + PACKAGED["native"] not in members:
        raise SpecError(f"{path}: the wheel does not contain torchgen/packaged", "name a wheel of torch")
    if any(members.values()):
        raise SpecError(f"{path}: the wheel is encrypted", "name a wheel as pip downloads it")
    known_files = {role: posixpath.normpath(prefix + member) for role, member in PACKAGED.items()}
    files = {role: Location(path, at) for role, at in known_files.items() if role in NEEDED or at in members}
    names = (*known.main, *known.added)
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
