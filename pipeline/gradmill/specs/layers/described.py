"""Resolves a description to a spec set: the location of each file, in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from gradmill.io.files import read_file
from gradmill.model.layers import HookFile, SpecSource, listed
from gradmill.problems.names import closest
from gradmill.problems.problem import Role, SpecError, nearest
from gradmill.specs.layers.description import Backend, Base, Described, Description, Layer, Marks, SpecFile, SpecFiles
from gradmill.specs.layers.hooks import path_of, read_hooks
from gradmill.specs.layers.reading import Diagnostic, Written, description_error, read_description
from gradmill.specs.layers.releases import for_release, minor_of, written_at
from gradmill.specs.location import DESCRIPTION, DIFF, EXTERNAL, EXTERNAL_KERNELS, Location
from gradmill.specs.spec_set import ROLES, SpecSet


class _Resolver:
    """Collects the files of one description by key, and diagnostics for the files that it lacks."""

    def __init__(self, folder: str, base: SpecSet) -> None:
        self.folder = folder
        self.base = base
        self.files: dict[str, Location] = {}
        self.sources: list[SpecSource] = []
        self.diagnostics: list[Diagnostic] = []
        self.looked_for = list(base.looked_for)
        self.headers = dict(base.headers)

    def _at(self, path: str) -> Location:
        return Location(os.path.normpath(os.path.join(self.folder, path)))

    def add_base(self, base: Base) -> None:
        """Adds the files of the base, without those that the description ignores."""
        for role in ROLES:
            if role in self.base.files and (role != "derivatives" or base.derivatives != "alone"):
                key = f"{role}:base"
                self.files[key] = at = self.base.files[role]
                rewrites = base.rewrite if role == "native" else ()
                name = os.path.basename(at.member or at.path)
                self.sources.append(SpecSource(key, name, rewrites=rewrites, at=("base",)))
        self.files |= {key: at for key, at in self.base.files.items() if key == "fallback_ops"}

    def add_layer(self, place: int, layer: Layer) -> None:
        """Adds the headers, files and diffs of a layer; `place` is its index in the description."""
        for header in listed(layer.helpers):
            self.headers[header] = location = self._at(header)
            self.looked_for.append(location.path)
            if not os.path.isfile(location.path):
                self._missing(("layer", str(place), "helpers"), header, "name a C++ header")
        for role, at, file in _files_of(place, layer):
            name = file.file or file.diff
            if not os.path.isfile(self._at(name).path):
                self._missing(at, name, f"name a {'diff' if file.diff else 'YAML file'}")
            elif file.diff:
                self._add_diff(role, file, at)
            else:
                self._add_file(role, layer, file, at)

    def add_backends(self, backends: Sequence[Backend]) -> None:
        """Adds the files of the backend; one at most applies to a release."""
        for place, backend in enumerate(backends):
            at = ("backend", str(place))
            if place:
                hint = "write since and until, so that one applies to each release"
                self.diagnostics.append(Diagnostic(at, "a second backend applies to this release", hint))
            for role, key, path in ((EXTERNAL, "file", backend.file), (EXTERNAL_KERNELS, "kernels", backend.kernels)):
                location = self._at(path)
                if path and not os.path.isfile(location.path):
                    self._missing((*at, key), path, "name a YAML file" if key == "file" else "name a C++ file")
                elif path:
                    self.files[role] = location

    def add_marks(self, marks: Sequence[Marks]) -> None:
        """Adds the files that list operators."""
        for place, mark in enumerate(marks):
            at, key = ("marks", str(place)), f"marks:{place}:{mark.file}"
            if not os.path.isfile(self._at(mark.file).path):
                self._missing((*at, "file"), mark.file, "name a YAML file")
                continue
            self.files[key] = self._at(mark.file)
            name = os.path.basename(mark.file) if os.path.isabs(mark.file) else os.path.normpath(mark.file)
            self.sources.append(SpecSource(key, name, lists=listed(mark.lists), at=at))

    def add_hooks(self, path: str) -> HookFile | None:
        """Adds the files of the hooks; None if there are none. SpecError for a file that is wrong."""
        at = self._at(path).path
        if not path or not os.path.isfile(at):
            if path:
                self._missing(("hooks",), path, "name a Python file")
            return None
        hooks = read_hooks(at, read_file)
        self.files |= {key: Location(path_of(at, key)) for key in hooks.modules.values()}
        return hooks

    def _missing(self, at: tuple[str, ...], path: str, hint: str) -> None:
        self.diagnostics.append(Diagnostic(at, f"there is no file '{path}'", self._near(path) or hint, path))

    def _add_file(self, role: Role, layer: Layer, file: SpecFile, at: tuple[str, ...]) -> None:
        key = f"{role}:{layer.name}/{file.file}"
        if key in self.files:
            self.diagnostics.append(
                Diagnostic(at, f"'{file.file}' is listed twice in this layer", "remove one of them")
            )
            return
        self.files[key] = self._at(file.file)
        self.sources.append(
            SpecSource(
                key=key,
                file=os.path.basename(file.file) if os.path.isabs(file.file) else os.path.normpath(file.file),
                layer=layer.name,
                namespace=layer.namespace,
                lists=listed(file.lists),
                drop=listed(file.drop),
                keep=listed(file.keep),
                versions=file.versions,
                at=at,
            )
        )

    def _add_diff(self, role: Role, file: SpecFile, at: tuple[str, ...]) -> None:
        place = next((i for i, source in enumerate(self.sources) if source.key == f"{role}:base"), None)
        if place is None:
            self.diagnostics.append(
                Diagnostic(at, f"the diff changes the base's {role} file, and there is none", "name a base")
            )
            return
        key = f"{role}:{DIFF}{file.diff}"
        self.files[key] = self._at(file.diff)
        self.sources[place] = replace(self.sources[place], diffs=(*self.sources[place].diffs, key))

    def check_templates(self, description: Description) -> None:
        """Reports missing templates and missing folders of templates."""
        for family, rules in description.family.items():
            at = ("family", family)
            if rules.templates and not os.path.isdir(self._at(rules.templates).path):
                problem = f"there is no folder '{rules.templates}'"
                hint = self._near(rules.templates) or "name a folder with templates"
                self.diagnostics.append(Diagnostic((*at, "templates"), problem, hint))
                continue
            for name, file in rules.file.items():
                self._check_template((*at, "file", name), name, file.template, rules.templates)

    def _check_template(self, at: tuple[str, ...], name: str, template: str, folder: str) -> None:
        own = self.base.templates
        if (template or name) in own:
            return
        path = template or (f"{folder}/{name}" if folder else "")
        if not path:
            problem, hint = f"there is no template '{name}'", str(nearest(name, own)) or "write template = …"
            self.diagnostics.append(Diagnostic(at, problem, hint))
        elif not os.path.isfile(self._at(path).path):
            self._missing((*at, "template") if template else at, path, str(nearest(name, own)) or "name a template")

    def _near(self, path: str) -> str:
        """A hint that names a similar file in the folder of `path`; "" if there is none."""
        folder, name = os.path.split(path)
        stem, ending = os.path.splitext(name)
        around = self._at(folder).path
        entries = map(os.path.splitext, sorted(os.listdir(around)) if os.path.isdir(around) else [])
        close = closest(stem, tuple(other for other, other_ending in entries if other_ending == ending))
        return f"did you mean '{close}{ending}'?" if close else ""

    def templates(self, description: Description) -> tuple[dict[str, Location], dict[str, dict[str, str]]]:
        """All templates by label, and for each family the labels of templates that replace the base's, by name."""
        own = self.base.templates
        located: dict[str, Location] = dict(own)
        by_family: dict[str, dict[str, str]] = {}
        for family, rules in description.family.items():
            named = by_family.setdefault(family, {})
            for name in own if rules.templates else ():
                path = os.path.join(self.folder, rules.templates, name)
                self.looked_for.append(path)
                if os.path.exists(path):
                    named[name] = f"{rules.templates}/{name}"
            for name, file in rules.file.items():
                if file.template and file.template not in own:
                    named[name] = file.template
                elif not file.template and rules.templates and name not in own:
                    named[name] = f"{rules.templates}/{name}"
            located |= {label: self._at(label) for label in named.values()}
        return located, by_family


def _files_of(place: int, layer: Layer) -> Iterator[tuple[Role, tuple[str, ...], SpecFile]]:
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
    written = _read(path)
    base = _find_base(path, written, release or written.description.release, find_base)
    value, moved = for_release(written.value, release or written.description.release or base.version)
    description = msgspec.convert(value, Description)
    resolver = _Resolver(os.path.dirname(path), base)
    resolver.add_base(description.base)
    for place, layer in enumerate(description.layers):
        resolver.add_layer(place, layer)
    version = base.version or description.release
    named, of = description.release, base.version
    if not release and of and named and minor_of(of) != minor_of(named):
        problem = f"the base is of release {of}"
        resolver.diagnostics.append(Diagnostic(("release",), problem, "leave it out, or name another base"))
    resolver.add_backends(description.backends)
    resolver.add_marks(description.marks)
    hooks = resolver.add_hooks(description.hooks)
    resolver.check_templates(description)
    if resolver.diagnostics:
        placed = (replace(each, path=written_at(moved, each.path)) for each in resolver.diagnostics)
        raise description_error([(path, written.text, each) for each in placed])
    templates, by_family = resolver.templates(description)
    return SpecSet(
        description.name or os.path.basename(os.path.dirname(os.path.abspath(path))),
        {**resolver.files, DESCRIPTION: Location(path)},
        templates,
        version,
        base.template_comment,
        base.version_file or path,
        tuple(resolver.looked_for),
        Described(description, tuple(resolver.sources), by_family, tuple(moved), hooks),
        resolver.headers,
        base.whole,
    )


def _read(path: str) -> Written:
    try:
        data = Location(path).read()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from error
    return read_description(path, data)


def _find_base(path: str, written: Written, release: str, find: Callable[[str, str], SpecSet]) -> SpecSet:
    """The base of a description for a release. A SpecError at the key that names it if there is none."""
    at: tuple[str, ...] = ("base", "releases")
    try:
        where, at = _base_of(written.description, release)
        return find(where, os.path.dirname(path))
    except SpecError as error:
        diagnostic = Diagnostic(at, error.problem.removeprefix("specs="), error.hint)
        raise description_error([(path, written.text, diagnostic)]) from error


def _base_of(description: Description, release: str) -> tuple[str, tuple[str, ...]]:
    """The base that the description names for a release, and the path of the key that names it."""
    base = description.base
    for key, specs in base.releases.items():
        if release and minor_of(key) == minor_of(release):
            return specs, ("base", "releases", key)
    if not base.specs and not release and len(base.releases) == 1:
        key = next(iter(base.releases))
        return base.releases[key], ("base", "releases", key)
    if not base.specs and base.releases:
        raise SpecError(
            f"the description has no base for release '{release}'" if release else "the description has several bases",
            f"write release=X.Y.Z, one of {', '.join(base.releases)}",
        )
    return base.specs, ("base", "specs")
