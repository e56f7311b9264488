"""Resolves a description to a spec set: the location of each file, in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gradmill.io.files import read_file
from gradmill.model.layers import HookFile, SpecSource, listed, role_of
from gradmill.problems.names import closest
from gradmill.problems.problem import Role, SpecError, nearest
from gradmill.specs.layers.description import (
    Backend,
    Base,
    Bound,
    Described,
    Description,
    Layer,
    Marks,
    Origin,
    SpecFile,
)
from gradmill.specs.layers.hooks import path_of, read_hooks
from gradmill.specs.layers.inheritance import Level, Merged, origin_of, rebased
from gradmill.specs.layers.reading import Diagnostic, Written, description_error, read_description
from gradmill.specs.layers.releases import ForRelease, bounded, minor_of
from gradmill.specs.layers.validation import files_of, validate
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

    def add_base(self) -> None:
        """Adds the files of the set under all descriptions."""
        for role in ROLES:
            if role in self.base.files:
                key = f"{role}:base"
                self.files[key] = base = self.base.files[role]
                self.sources.append(SpecSource(key, os.path.basename(base.member or base.path), at=("base",)))
        self.files |= {key: at for key, at in self.base.files.items() if key == "fallback_ops"}

    def restrict(self, base: Base) -> None:
        """Leaves out what a description leaves out of the set under it."""
        if base.derivatives == "alone":
            self.sources = [source for source in self.sources if source.role != "derivatives"]
            self.files = {key: at for key, at in self.files.items() if role_of(key) != "derivatives"}
        excluded: dict[Role, list[str]] = {"native": list(listed(base.exclude))}
        for drop in base.drop:
            excluded.setdefault("derivatives", []).extend(listed(drop.derivatives))
            excluded.setdefault("tags", []).extend(listed(drop.tags))
        for place, source in enumerate(self.sources):
            rewrites = base.rewrite if source.role == "native" else ()
            exclude = tuple(excluded.get(source.role, ()))
            if rewrites or exclude:
                changes = {"rewrites": (*source.rewrites, *rewrites), "exclude": (*source.exclude, *exclude)}
                self.sources[place] = replace(source, **changes)

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
            lists, operator = listed(mark.lists), mark.operator
            self.sources.append(SpecSource(key, name, lists=lists, versions=mark.versions, at=at, operator=operator))

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


class _Chain(Struct, frozen=True):
    """Descriptions, each on top of the next, and the set under the last one."""

    written: tuple[Written, ...]
    keys: tuple[str, ...]  # of the descriptions among the set's files
    folders: tuple[str, ...]  # of the descriptions, relative to that of the first; "" for this one
    base: SpecSet
    wanted: str  # the release that the command line or a description names; "" if none does

    @property
    def release(self) -> str:
        """The release to read the descriptions for; "" if nothing names one."""
        return self.wanted or self.base.version


def find_described(path: str, release: str, find_base: Callable[[str, str], SpecSet | str]) -> SpecSet:
    """The set of the description at `path`, for a PyTorch release, "" if the command line names none.

    `find_base` returns the base for the value of `specs` and the folder that paths are relative to, or the path of the
    description that it has. Raises a SpecError with all errors of the description.
    """
    chain = _read_chain(path, release, find_base)
    merged, levels = Merged(), []
    for written, key, folder in reversed(list(zip(chain.written, chain.keys, chain.folders))):
        part = ForRelease(written.value, chain.release)
        value = rebased(part.value, partial(_below, folder, chain.base)) if folder else part.value
        merged.add(Level(key, value, part.moved))
        levels.append(msgspec.convert(value, Description))
    description, origins = msgspec.convert(merged.value, Description), merged.origins()
    resolver = _Resolver(os.path.dirname(path), chain.base)
    resolver.add_base()
    for place, layer in _resolve_levels(resolver, levels):
        resolver.add_layer(place, layer)
    version = chain.base.version or description.release
    named, of = description.release, chain.base.version
    if not release and of and named and minor_of(of) != minor_of(named):
        problem = f"the base is of release {of}"
        resolver.diagnostics.append(Diagnostic(("release",), problem, "leave it out, or name another base"))
    resolver.add_backends(description.backends)
    resolver.add_marks(description.marks)
    hooks = resolver.add_hooks(description.hooks)
    resolver.check_templates(description)
    resolver.diagnostics += _doubled_layers(description)
    if resolver.diagnostics:
        raise description_error([_placed(chain, origins, each) for each in resolver.diagnostics])
    templates, by_family = resolver.templates(description)
    paths = {key: Location(written.file) for key, written in zip(chain.keys, chain.written)}
    bounds = tuple(
        Bound(key, *bound) for key, written in zip(chain.keys, chain.written) for bound in bounded(written.value)
    )
    return SpecSet(
        description.name or os.path.basename(os.path.dirname(os.path.abspath(path))),
        {**resolver.files, **paths},
        templates,
        version,
        chain.base.template_comment,
        chain.base.version_file or path,
        tuple(resolver.looked_for),
        Described(description, tuple(resolver.sources), by_family, origins, bounds, hooks),
        resolver.headers,
        chain.base.whole,
    )


def _resolve_levels(resolver: _Resolver, levels: list[Description]) -> Iterator[tuple[int, Layer]]:
    """The layers of descriptions, the lowest first, each with its place in all; what each leaves out of the set under
    it is left out before its layers."""
    place = 0
    for level in levels:
        resolver.restrict(level.base)
        for layer in level.layers:
            yield place, layer
            place += 1


def _doubled_layers(description: Description) -> Iterator[Diagnostic]:
    """Reports layers with the name of a layer of the base."""
    names = [layer.name for layer in description.layers]
    for place, name in enumerate(names):
        if name in names[:place]:
            problem = f"a layer of the base is called '{name}', too"
            yield Diagnostic(("layer", str(place), "name"), problem, "give each layer its own name")


def _placed(chain: _Chain, origins: Sequence[Origin], diagnostic: Diagnostic) -> tuple[str, str, Diagnostic]:
    """A diagnostic of the whole description: the file it is in, the text of this file, and its path there."""
    key, path = origin_of(origins, diagnostic.path)
    written = chain.written[chain.keys.index(key)]
    return written.file, written.text, replace(diagnostic, path=path)


def _read_chain(path: str, release: str, find_base: Callable[[str, str], SpecSet | str]) -> _Chain:
    """The description at `path` and those under it. Raises a SpecError with the errors of the first one that has any,
    at the key that names a base if this is missing or on top of itself."""
    all_written: list[Written] = []
    folders, above = [""], ""
    while True:
        written = _read(path)
        all_written.append(written)
        release = release or written.description.release
        at: tuple[str, ...] = ("base", "releases")
        try:
            where, at = _base_of(written.description, release)
            base = find_base(where, os.path.dirname(path))
            if not isinstance(base, str):
                break
            above = _without_circle(base, where, all_written)
        except SpecError as error:
            diagnostic = Diagnostic(at, error.problem.removeprefix("specs="), error.hint)
            raise description_error([(path, written.text, diagnostic)]) from error
        folders.append(_folder_of(base, where, path, folders[-1]))
        path = above
    names = [os.path.normpath(f"{at}/{os.path.basename(each.file)}") for at, each in zip(folders, all_written)]
    keys = (DESCRIPTION, *(f"{DESCRIPTION}:{name}" for name in names[1:]))
    return _Chain(tuple(all_written), keys, tuple(folders), base, release)


def _folder_of(base: str, where: str, path: str, folder: str) -> str:
    """The folder of a base's description, relative to that of the first one. `where`: as the description at `path`,
    which is in `folder`, names it."""
    if os.path.isabs(where):
        return os.path.dirname(base)
    step = os.path.relpath(os.path.dirname(base) or os.curdir, os.path.dirname(path) or os.curdir)
    return os.path.normpath(os.path.join(folder, step))


def _read(path: str) -> Written:
    try:
        data = Location(path).read()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from error
    written = read_description(path, data)
    diagnostics = list(validate(written))
    if diagnostics:
        raise description_error([(path, written.text, each) for each in diagnostics])
    return written


def _without_circle(path: str, where: str, above: list[Written]) -> str:
    """The path of a base. SpecError if it is one of the descriptions above it."""
    if any(os.path.realpath(path) == os.path.realpath(each.file) for each in above):
        raise SpecError(f"'{where}' has this description as its base", "name another base in one of them")
    return path


def _below(folder: str, base: SpecSet, path: str) -> str:
    """A path of a description in `folder`, relative to the first description. The name of a template of the set under
    all descriptions stays."""
    return path if path in base.templates else os.path.normpath(os.path.join(folder, path))


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
