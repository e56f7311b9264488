"""Resolves a description to a spec set: the location of each file, in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from gradmill.model.layers import HookFile, SpecSource, listed
from gradmill.problems.problem import Role, SpecError, nearest
from gradmill.specs.layers.description import Base, Described, Description, Layer, SpecFile, SpecFiles
from gradmill.specs.layers.hooks import read_hooks
from gradmill.specs.layers.reading import DescriptionError, Path, error_at, read_description
from gradmill.specs.layers.releases import Moved, for_release, minor_of, written_at
from gradmill.specs.location import DESCRIPTION, DIFF, EXTERNAL, EXTERNAL_KERNELS, Location, nearest_file
from gradmill.specs.spec_set import ROLES, SpecSet


class _Resolver:
    """Collects the files of one description by key, and errors for those that it lacks. `moved`: as in `Described`."""

    def __init__(self, description: Description, folder: str, base: SpecSet, moved: Moved) -> None:
        self.description = description
        self.folder = folder
        self.base = base
        self.moved = moved
        self.files: dict[str, Location] = {}
        self.sources: dict[str, SpecSource] = {}
        self.errors: list[SpecError] = []
        self.looked_for = list(base.looked_for)
        self.headers = dict(base.headers)

    def at(self, path: str) -> Location:
        """The location of a path in the description."""
        return Location(os.path.normpath(os.path.join(self.folder, path)))

    def error(self, at: Path, problem: str, hint: str, needle: str = "") -> None:
        self.errors.append(error_at(written_at(self.moved, at), problem, hint, needle))

    def _file(self, at: Path, path: str, hint: str) -> Location:
        """The location of a file; with an error if it is missing."""
        location = self.at(path)
        if not os.path.isfile(location.path):
            self.error(at, f"there is no file '{path}'", nearest_file(location.path) or hint, path)
        return location

    def add_base(self) -> None:
        """Adds the files of the base, without those that the description ignores."""
        for role in ROLES:
            if role in self.base.files and (role != "derivatives" or self.description.base.derivatives != "alone"):
                key = f"{role}:base"
                self.files[key] = at = self.base.files[role]
                rewrites = self.description.base.rewrite if role == "native" else ()
                name = os.path.basename(at.member or at.path)
                self.sources[key] = SpecSource(key, name, rewrites=rewrites, at=("base",))
        self.files |= {key: at for key, at in self.base.files.items() if key == "fallback_ops"}

    def add_layer(self, place: int, layer: Layer) -> None:
        """Adds the headers, files and diffs of a layer; `place` is its index in the description."""
        if layer.name in [each.name for each in self.description.layers[:place]]:
            problem = f"a second layer is called '{layer.name}'"
            self.error(("layer", str(place), "name"), problem, "give each layer its own name")
        for header in listed(layer.helpers):
            self.headers[header] = self._file(("layer", str(place), "helpers"), header, "name a C++ header")
            self.looked_for.append(self.headers[header].path)
        for role, at, file in _files_of(place, layer):
            base = self.sources.get(f"{role}:base")
            key = f"{role}:{DIFF}{file.diff}" if file.diff else f"{role}:{layer.name}/{file.file}"
            if key in self.files:
                self.error(at, f"'{file.file or file.diff}' is listed twice in this layer", "remove one of them")
            self.files[key] = self._file(at, file.file or file.diff, f"name a {'diff' if file.diff else 'YAML file'}")
            if not file.diff:
                rules = (listed(file.lists), listed(file.drop), listed(file.keep), file.versions)
                self.sources[key] = SpecSource(key, _shown(file.file), layer.name, layer.namespace, *rules, at=at)
            elif base is not None:
                self.sources[base.key] = replace(base, diffs=(*base.diffs, key))
            else:
                self.error(at, f"the diff changes the base's {role} file, and there is none", "name a base")

    def add_backends(self) -> None:
        """Adds the files of the backend; one at most applies to a release."""
        for place, backend in enumerate(self.description.backends):
            at = ("backend", str(place))
            if place:
                hint = "write since and until, so that one applies to each release"
                self.error(at, "a second backend applies to this release", hint)
            for role, key, path in ((EXTERNAL, "file", backend.file), (EXTERNAL_KERNELS, "kernels", backend.kernels)):
                if path:
                    what = "YAML" if key == "file" else "C++"
                    self.files[role] = self._file((*at, key), path, f"name a {what} file")

    def add_marks(self) -> None:
        """Adds the files that list operators."""
        for place, mark in enumerate(self.description.marks):
            at, key = ("marks", str(place)), f"marks:{place}:{mark.file}"
            self.files[key] = self._file((*at, "file"), mark.file, "name a YAML file")
            self.sources[key] = SpecSource(key, _shown(mark.file), lists=listed(mark.lists), at=at)

    def add_hooks(self) -> HookFile | None:
        """Adds the files of the hooks; None if there are none. SpecError for a file that is wrong."""
        path = self.description.hooks
        found = self._file(("hooks",), path, "name a Python file") if path else None
        if found is None or not os.path.isfile(found.path):
            return None
        modules, lines = read_hooks(found.path)
        keys = {name: f"hooks:{os.path.basename(at)}" for name, at in modules.items()}
        self.files |= {keys[name]: Location(at) for name, at in modules.items()}
        return HookFile(keys, lines)

    def templates(self, family: str) -> dict[str, str]:
        """The labels of the templates that replace the base's in a family, by name."""
        rules = self.description.family[family]
        at, own, folder = ("family", family), self.base.templates, rules.templates
        if folder and not os.path.isdir(self.at(folder).path):
            hint = nearest_file(self.at(folder).path) or "name a folder with templates"
            self.error((*at, "templates"), f"there is no folder '{folder}'", hint)
            return {}
        paths = {name: os.path.join(self.folder, folder, name) for name in own if folder}
        self.looked_for += paths.values()
        named = {name: f"{folder}/{name}" for name, path in paths.items() if os.path.exists(path)}
        for name, file in rules.file.items():
            label = file.template or (f"{folder}/{name}" if folder else "")
            here, near = (*at, "file", name), str(nearest(name, own))
            if (file.template or name) in own:
                continue
            if label:
                self._file((*here, "template") if file.template else here, label, near or "name a template")
                named[name] = label
            else:
                self.error(here, f"there is no template '{name}'", near or "write template = …")
        return named


def _shown(path: str) -> str:
    """The path of a file within the set."""
    return os.path.basename(path) if os.path.isabs(path) else os.path.normpath(path)


def _files_of(place: int, layer: Layer) -> Iterator[tuple[Role, Path, SpecFile]]:
    """The files of a layer, role by role, each with its path in the description; `place`: the index of the layer."""
    by_role: dict[Role, SpecFiles] = {"native": layer.native, "tags": layer.tags, "derivatives": layer.derivatives}
    for role, files in by_role.items():
        at = ("layer", str(place), role)
        for number, item in enumerate(files if isinstance(files, tuple) else (files,)):
            path = (*at, str(number)) if isinstance(files, tuple) else at
            yield role, path, SpecFile(item) if isinstance(item, str) else item


def find_described(path: str, release: str, find_base: Callable[[str, str], SpecSet]) -> SpecSet:
    """The set of the description at `path`, for a PyTorch release, "" if the command line names none.

    `find_base` returns the base for the value of `specs` and the folder that paths are relative to. Raises a SpecError
    with all errors of the description.
    """
    try:
        text, whole = read_description(path, Location(path).read())
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from error
    asked = release or whole.get("release", "")
    try:
        base = _find_base(msgspec.convert(whole, Description).base, os.path.dirname(path), asked, find_base)
    except SpecError as error:
        raise DescriptionError(path, text, [error]) from error
    value, moved = for_release(whole, asked or base.version)
    description = msgspec.convert(value, Description)
    resolver = _Resolver(description, os.path.dirname(path), base, moved)
    resolver.add_base()
    for place, layer in enumerate(description.layers):
        resolver.add_layer(place, layer)
    named, of = minor_of(description.release), minor_of(base.version)
    if not release and of and named and of != named:
        resolver.error(("release",), f"the base is of release {base.version}", "leave it out, or name another base")
    resolver.add_backends()
    resolver.add_marks()
    hooks = resolver.add_hooks()
    by_family = {family: resolver.templates(family) for family in description.family}
    labels = sorted({label for own in by_family.values() for label in own.values()})
    if resolver.errors:
        raise DescriptionError(path, text, resolver.errors)
    return SpecSet(
        name=description.name or os.path.basename(os.path.dirname(os.path.abspath(path))),
        files={**resolver.files, DESCRIPTION: Location(path)},
        templates={**base.templates, **{label: resolver.at(label) for label in labels}},
        version=base.version or description.release,
        template_comment=base.template_comment,
        version_file=base.version_file or path,
        looked_for=tuple(resolver.looked_for),
        described=Described(description, tuple(resolver.sources.values()), by_family, moved, hooks),
        headers=resolver.headers,
        whole=base.whole,
    )


def _find_base(base: Base, folder: str, release: str, find: Callable[[str, str], SpecSet]) -> SpecSet:
    """The base of a description in a folder for a release. A SpecError at the key that names it if there is none."""
    at: Path = ("base", "specs")
    only = [] if base.specs or release or len(base.releases) != 1 else [*base.releases]
    keys = [key for key in base.releases if release and minor_of(key) == minor_of(release)] or only
    if keys:
        at = ("base", "releases", keys[0])
    elif base.releases and not base.specs:
        what = f"no base for release '{release}'" if release else "several bases"
        hint = f"write release=X.Y.Z, one of {', '.join(base.releases)}"
        raise error_at(("base", "releases"), f"the description has {what}", hint)
    try:
        return find(base.releases[keys[0]] if keys else base.specs, folder)
    except SpecError as error:
        raise error_at(at, error.problem.removeprefix("specs="), error.hint) from error
