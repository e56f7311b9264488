"""Resolves a description to a spec set: the location of each file, in order."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from pipeline.model.layers import Source, listed
from pipeline.problems.names import closest
from pipeline.problems.problem import Role, SpecError, nearest
from pipeline.specs.layers.description import Described, Description, Layer, SpecFile
from pipeline.specs.layers.reading import Diagnostic, description_error, read_description
from pipeline.specs.layers.validation import files_of, minor_of, validate
from pipeline.specs.location import DESCRIPTION, DIFF, PACKAGED_TEMPLATES, Location

_ROLES: tuple[Role, ...] = ("native", "tags", "derivatives", "deprecated")


class BaseSet(Struct, frozen=True):
    """What a described set needs of its base: files by role, templates, release and headers.

    The fields are those of `pipeline.specs.spec_set.SpecSet`; `version_file` is the set's name if no file names its
    release.
    """

    files: dict[str, Location]
    templates: dict[str, Location]
    version: str = ""
    version_file: str = ""
    looked_for: tuple[str, ...] = ()
    headers: dict[str, Location] = {}
    template_comment: str = PACKAGED_TEMPLATES
    whole: bool = False


class DescribedSet(Struct, frozen=True):
    """A described set: the fields of `pipeline.specs.spec_set.SpecSet`, and the base."""

    name: str
    files: dict[str, Location]
    templates: dict[str, Location]
    version: str
    version_file: str
    looked_for: tuple[str, ...]
    described: Described
    headers: dict[str, Location]
    base: BaseSet


class _Resolver:
    """Collects the files of one description by key, and diagnostics for the files that it lacks."""

    def __init__(self, folder: str, base: BaseSet, description: Description) -> None:
        self.folder = folder
        self.base = base
        self.description = description
        self.files: dict[str, Location] = {}
        self.sources: list[Source] = []
        self.diagnostics: list[Diagnostic] = []
        self.looked_for = list(base.looked_for)
        self.headers = dict(base.headers)

    def _at(self, path: str) -> Location:
        return Location(os.path.normpath(os.path.join(self.folder, path)))

    def add_base(self) -> None:
        """Adds the base's files, without its derivatives if those of the layers stand alone."""
        base = self.description.base
        for role in _ROLES:
            if role in self.base.files and not (role == "derivatives" and base.derivatives == "alone"):
                key = f"{role}:base"
                self.files[key] = self.base.files[role]
                native = role == "native"
                rewrites, exclude = (base.rewrite, listed(base.exclude)) if native else ((), ())
                self.sources.append(
                    Source(key, _name_of(self.base.files[role]), rewrites=rewrites, exclude=exclude, at=("base",))
                )

    def add_layer(self, place: int, layer: Layer) -> None:
        """Adds the headers, files and diffs of a layer; `place` is its index in the description."""
        for header in listed(layer.helpers):
            self.headers[header] = location = self._at(header)
            self.looked_for.append(location.path)
            if not os.path.isfile(location.path):
                self._missing(("layer", str(place), "helpers"), header, "name a C++ header")
        for role, at, file, named in files_of(place, layer):
            name = file.file or file.diff
            if not os.path.isfile(self._at(name).path):
                self._missing(named, name, f"name a {'diff' if file.diff else 'YAML file'}")
            elif file.diff:
                self._add_diff(role, file, at)
            else:
                self._add_file(role, layer, file, at)

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
            Source(
                key,
                os.path.basename(file.file) if os.path.isabs(file.file) else os.path.normpath(file.file),
                layer.name,
                layer.namespace,
                listed(file.lists),
                listed(file.drop),
                listed(file.keep),
                file.versions,
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
        old = self.sources[place]
        changed = {name: getattr(old, name) for name in old.__struct_fields__} | {"diffs": (*old.diffs, key)}
        self.sources[place] = Source(**changed)

    def check_templates(self) -> None:
        """Reports missing templates and missing folders of templates."""
        for family, rules in self.description.family.items():
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

    def templates(self) -> tuple[dict[str, Location], dict[str, dict[str, str]]]:
        """All templates by label, and for each family the labels of templates that replace the base's, by name."""
        own = self.base.templates
        located: dict[str, Location] = dict(own)
        by_family: dict[str, dict[str, str]] = {}
        for family, rules in self.description.family.items():
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


def find_described(path: str, release: str, find_base: Callable[[str, str], BaseSet]) -> DescribedSet:
    """The set of the description at `path`, for a PyTorch release, "" if the command line names none.

    `find_base` returns the base for the value of `specs` and the folder that paths are relative to. Raises a SpecError
    with all errors of the description.
    """
    try:
        data = Location(path).read()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from error
    description, text = read_description(path, data)
    folder = os.path.dirname(path)
    diagnostics = list(validate(description))
    if diagnostics:
        raise description_error(path, text, diagnostics)
    wanted = release or description.release
    where, at = _base_of(description, wanted)
    try:
        base = find_base(where, folder)
    except SpecError as error:
        diagnostic = Diagnostic(at, error.problem.removeprefix("specs="), error.hint)
        raise description_error(path, text, [diagnostic]) from error
    resolver = _Resolver(folder, base, description)
    resolver.add_base()
    version = base.version or description.release
    for place, layer in enumerate(description.layers):
        if _within(wanted or version, layer.since, layer.until):
            resolver.add_layer(place, layer)
    if not release and base.version and description.release and minor_of(base.version) != minor_of(description.release):
        problem = f"the base is of release {base.version}"
        resolver.diagnostics.append(Diagnostic(("release",), problem, "leave it out, or name another base"))
    resolver.check_templates()
    if resolver.diagnostics:
        raise description_error(path, text, resolver.diagnostics)
    templates, by_family = resolver.templates()
    name = description.name or os.path.basename(os.path.dirname(os.path.abspath(path)))
    files = {**resolver.files, DESCRIPTION: Location(path)}
    described = Described(description, tuple(resolver.sources), by_family)
    version_file = base.version_file or path
    looked_for = tuple(resolver.looked_for)
    return DescribedSet(name, files, templates, version, version_file, looked_for, described, resolver.headers, base)


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


def _within(release: str, since: str, until: str) -> bool:
    at = minor_of(release)
    return not at or ((not since or minor_of(since) <= at) and (not until or at <= minor_of(until)))


def _name_of(location: Location) -> str:
    return os.path.basename(location.member or location.path)
