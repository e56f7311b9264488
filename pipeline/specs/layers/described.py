"""A description to a spec set: where each of its files is, in their order."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from pipeline.model.layers import Source, listed
from pipeline.problems.names import closest
from pipeline.problems.problem import Role, SpecError, nearest
from pipeline.specs.layers.description import Described, Description, Layer, SpecFile
from pipeline.specs.layers.reading import Mistake, mistakes_in, read_description
from pipeline.specs.layers.wrong import files_of, minor_of, wrong
from pipeline.specs.location import DESCRIPTION, DIFF, PACKAGED_TEMPLATES, Location

_ROLES: tuple[Role, ...] = ("native", "tags", "derivatives")


class BaseSet(Struct, frozen=True):
    """Of a base what a described set needs: its files by role, its templates, its release."""

    files: dict[str, Location]
    templates: dict[str, Location]
    version: str = ""
    version_file: str = ""
    looked_for: tuple[str, ...] = ()
    headers: dict[str, Location] = {}
    template_comment: str = PACKAGED_TEMPLATES
    whole: bool = False


class Found(Struct, frozen=True):
    """All that a described set consists of."""

    name: str
    files: dict[str, Location]
    templates: dict[str, Location]
    version: str
    version_file: str
    looked_for: tuple[str, ...]
    described: Described
    headers: dict[str, Location]
    base: BaseSet


class _Finding:
    """The files of one description, by key, and what is wrong with it."""

    def __init__(self, folder: str, base: BaseSet, description: Description) -> None:
        self.folder = folder
        self.base = base
        self.description = description
        self.files: dict[str, Location] = {}
        self.sources: list[Source] = []
        self.mistakes: list[Mistake] = []
        self.looked_for = list(base.looked_for)
        self.headers = dict(base.headers)

    def _at(self, path: str) -> Location:
        return Location(os.path.normpath(os.path.join(self.folder, path)))

    def add_base(self) -> None:
        given = self.description.base
        for role in _ROLES:
            if role in self.base.files and not (role == "derivatives" and given.derivatives == "alone"):
                key = f"{role}:base"
                self.files[key] = self.base.files[role]
                native = role == "native"
                rewrites, exclude = (given.rewrite, listed(given.exclude)) if native else ((), ())
                self.sources.append(
                    Source(key, _name_of(self.base.files[role]), rewrites=rewrites, exclude=exclude, at=("base",))
                )

    def add_layer(self, place: int, layer: Layer) -> None:
        for header in listed(layer.helpers):
            self.headers[header] = found = self._at(header)
            self.looked_for.append(found.path)
            if not os.path.isfile(found.path):
                self._missing(("layer", str(place), "helpers"), header, "name a C++ header")
        for given in files_of(place, layer):
            name = given.file.file or given.file.diff
            if not os.path.isfile(self._at(name).path):
                self._missing(given.named, name, f"name a {'diff' if given.file.diff else 'YAML file'}")
            elif given.file.diff:
                self._add_diff(given.role, given.file, given.at)
            else:
                self._add_file(given.role, layer, given.file, given.at)

    def _missing(self, at: tuple[str, ...], path: str, hint: str) -> None:
        self.mistakes.append(Mistake(at, f"there is no file '{path}'", self._near(path) or hint, path))

    def _add_file(self, role: Role, layer: Layer, file: SpecFile, at: tuple[str, ...]) -> None:
        key = f"{role}:{layer.name}/{file.file}"
        if key in self.files:
            self.mistakes.append(Mistake(at, f"'{file.file}' stands twice in this layer", "remove one of them"))
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
            self.mistakes.append(
                Mistake(at, f"there is no base whose {role} file the diff could change", "name a base")
            )
            return
        key = f"{role}:{DIFF}{file.diff}"
        self.files[key] = self._at(file.diff)
        old = self.sources[place]
        changed = {name: getattr(old, name) for name in old.__struct_fields__} | {"diffs": (*old.diffs, key)}
        self.sources[place] = Source(**changed)

    def check_templates(self) -> None:
        """Templates, and folders of them, must be there."""
        for family, given in self.description.family.items():
            at = ("family", family)
            if given.templates and not os.path.isdir(self._at(given.templates).path):
                problem = f"there is no folder '{given.templates}'"
                hint = self._near(given.templates) or "name a folder with templates"
                self.mistakes.append(Mistake((*at, "templates"), problem, hint))
                continue
            for name, file in given.file.items():
                self._check_template((*at, "file", name), name, file.template, given.templates)

    def _check_template(self, at: tuple[str, ...], name: str, template: str, folder: str) -> None:
        own = self.base.templates
        if (template or name) in own:
            return
        path = template or (f"{folder}/{name}" if folder else "")
        if not path:
            problem, hint = f"there is no template '{name}'", str(nearest(name, own)) or "write template = …"
            self.mistakes.append(Mistake(at, problem, hint))
        elif not os.path.isfile(self._at(path).path):
            self._missing((*at, "template") if template else at, path, str(nearest(name, own)) or "name a template")

    def _near(self, path: str) -> str:
        """A hint at what is called nearly so where a path leads."""
        folder, name = os.path.split(path)
        stem, ending = os.path.splitext(name)
        around = self._at(folder).path
        there = map(os.path.splitext, sorted(os.listdir(around)) if os.path.isdir(around) else [])
        close = closest(stem, tuple(other for other, its in there if its == ending))
        return f"did you mean '{close}{ending}'?" if close else ""

    def templates(self) -> tuple[dict[str, Location], dict[str, dict[str, str]]]:
        """All templates by what they go by, and which of them a family has in place of the base's."""
        own = self.base.templates
        found: dict[str, Location] = dict(own)
        by_family: dict[str, dict[str, str]] = {}
        for family, given in self.description.family.items():
            named = by_family.setdefault(family, {})
            for name in own if given.templates else ():
                path = os.path.join(self.folder, given.templates, name)
                self.looked_for.append(path)
                if os.path.exists(path):
                    named[name] = f"{given.templates}/{name}"
            for name, file in given.file.items():
                if file.template and file.template not in own:
                    named[name] = file.template
                elif not file.template and given.templates and name not in own:
                    named[name] = f"{given.templates}/{name}"
            found |= {label: self._at(label) for label in named.values()}
        return found, by_family


def find_described(path: str, release: str, find_base: Callable[[str, str], BaseSet]) -> Found:
    """The set that the description at `path` describes, for a release ("" where it is not told).

    `find_base` finds a base by what `specs` says of it and the folder that paths are relative to. A SpecError with all
    that is wrong with the description.
    """
    try:
        data = Location(path).read()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from error
    description, text = read_description(path, data)
    folder = os.path.dirname(path)
    found = list(wrong(description))
    if found:
        raise mistakes_in(path, text, found)
    told = release or description.release
    where, at = _base_of(description, told)
    try:
        base = find_base(where, folder)
    except SpecError as error:
        raise mistakes_in(path, text, [Mistake(at, error.problem.removeprefix("specs="), error.hint)]) from error
    finding = _Finding(folder, base, description)
    finding.add_base()
    version = base.version or description.release
    for place, layer in enumerate(description.layers):
        if _within(told or version, layer.since, layer.until):
            finding.add_layer(place, layer)
    if not release and base.version and description.release and minor_of(base.version) != minor_of(description.release):
        problem = f"the base is of release {base.version}"
        finding.mistakes.append(Mistake(("release",), problem, "leave it out, or name another base"))
    finding.check_templates()
    if finding.mistakes:
        raise mistakes_in(path, text, finding.mistakes)
    templates, by_family = finding.templates()
    name = description.name or os.path.basename(os.path.dirname(os.path.abspath(path)))
    files = {**finding.files, DESCRIPTION: Location(path)}
    described = Described(description, tuple(finding.sources), by_family)
    told = base.version_file or path
    seen = tuple(finding.looked_for)
    return Found(name, files, templates, version, told, seen, described, finding.headers, base)


def _base_of(description: Description, release: str) -> tuple[str, tuple[str, ...]]:
    """Where the base is, and which key says so."""
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
            f"say release=X.Y.Z, one of {', '.join(base.releases)}",
        )
    return base.specs, ("base", "specs")


def _within(release: str, since: str, until: str) -> bool:
    at = minor_of(release)
    return not at or ((not since or minor_of(since) <= at) and (not until or at <= minor_of(until)))


def _name_of(location: Location) -> str:
    return os.path.basename(location.member or location.path)
