"""What is wrong with a description by itself, whatever files there are: names, releases, keys against one another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipeline.model.layers import LAYER_MARK
from pipeline.model.regex import regex
from pipeline.problems.problem import Role
from pipeline.specs.layers.description import Description, Edit, Facts, Layer, Replace, SpecFile, SpecFiles
from pipeline.specs.layers.reading import Mistake, Path

_RELEASE = regex(r"\d+\.\d+(\.\d+)?")
_LAYER = regex(r"[\w.+-]+")


class Given(NamedTuple):
    """One file of a layer, as the description has it."""

    role: Role
    at: Path
    file: SpecFile
    named: Path  # where its name stands


def files_of(place: int, layer: Layer) -> Iterator[Given]:
    """The files of a layer, role by role."""
    files: dict[Role, SpecFiles] = {"native": layer.native, "tags": layer.tags, "derivatives": layer.derivatives}
    for role, given in files.items():
        for number, item in enumerate(given if isinstance(given, tuple) else (given,)):
            at: Path = ("layer", str(place), role, *((str(number),) if isinstance(given, tuple) else ()))
            if isinstance(item, str):
                yield Given(role, at, SpecFile(item), at)
            else:
                yield Given(role, at, item, (*at, "diff" if item.diff else "file"))


def wrong(description: Description) -> Iterator[Mistake]:
    """All that is wrong."""
    names = [layer.name for layer in description.layers]
    for place, layer in enumerate(description.layers):
        at = ("layer", str(place), "name")
        if not _LAYER.fullmatch(layer.name) or LAYER_MARK.strip() in layer.name:
            yield Mistake(at, f"'{layer.name}' is no name for a layer", "write letters, digits, - and _")
        elif layer.name in names[:place]:
            yield Mistake(at, f"a second layer is called '{layer.name}'", "give each layer a name of its own")
        yield from _wrong_files(place, layer)
        if layer.namespace and not layer.namespace.isidentifier():
            yield Mistake((*at[:2], "namespace"), f"'{layer.namespace}' is no namespace", "write a C++ identifier")
    name = description.name
    if name and not _is_plain(name):
        yield Mistake(("name",), f"'{name}' cannot name a folder", "write a plain name")
    for family, rules in description.family.items():
        for template, file in rules.file.items():
            if not _is_plain(file.name or template):
                at = ("family", family, "file", template, *(("name",) if file.name else ()))
                yield Mistake(at, f"'{file.name or template}' cannot name a file", "write a plain name: name = …")
        if rules.library and not rules.library.isidentifier():
            at = ("family", family, "library")
            yield Mistake(at, f"'{rules.library}' is no namespace", "write a C++ identifier")
    for path, text in _replaced(description):
        if not text:
            yield Mistake(
                (*path, "from"), "an empty text stands everywhere", "write what is to be replaced", 'from = ""'
            )
    for path, release in _releases(description):
        if release and not _RELEASE.fullmatch(release):
            yield Mistake(path, f"'{release}' is no release", "write one such as 2.13")
    yield from _wrong_releases(description)


def _wrong_releases(description: Description) -> Iterator[Mistake]:
    """Releases against one another."""
    first: dict[tuple[int, ...], str] = {}
    for key in description.base.releases:
        if minor_of(key) and first.setdefault(minor_of(key), key) != key:
            again = f"'{key}' is the release '{first[minor_of(key)]}' again"
            yield Mistake(("base", "releases", key), again, "remove one of them")
    for path, item in _bounded(description):
        if minor_of(item.since) > minor_of(item.until) > ():
            yield Mistake((*path, "since"), f"no release is since {item.since} and until {item.until}", "swap them")


def _wrong_files(place: int, layer: Layer) -> Iterator[Mistake]:
    for _, at, file, _ in files_of(place, layer):
        if bool(file.file) == bool(file.diff):
            said = "both a file and a diff" if file.file else "neither a file nor a diff"
            yield Mistake(at, said, "write file = … or diff = …")
        if file.drop and file.keep:
            yield Mistake((*at, "drop"), "only what keep names is looked at", "remove drop, or keep")
        if file.diff:
            given = {"list": file.lists, "drop": file.drop, "keep": file.keep, "versions": file.versions}
            for key in [key for key, said in given.items() if said]:
                yield Mistake((*at, key), f"'{key}' is of no use beside a diff", "remove it")


def _is_plain(name: str) -> bool:
    """Whether a name leads nowhere else, and is a line of its own in no report."""
    return not (re.search(r"[/\\\x00-\x1f\x7f]", name) or name.startswith("."))


def _replaced(description: Description) -> Iterator[tuple[Path, str]]:
    """The texts that are replaced by others."""
    for place, rewrite in enumerate(description.base.rewrite):
        yield ("base", "rewrite", str(place)), rewrite.from_
    for family, rules in description.family.items():
        kinds: dict[str, tuple[Replace | Edit, ...]] = {"replace": rules.replace, "in_templates": rules.in_templates}
        for kind, edits in kinds.items():
            for place, edit in enumerate(edits):
                yield ("family", family, kind, str(place)), edit.from_


def _releases(description: Description) -> Iterator[tuple[Path, str]]:
    yield ("release",), description.release
    for key in description.base.releases:
        yield ("base", "releases", key), key
    for path, item in _bounded(description):
        yield (*path, "since"), item.since
        yield (*path, "until"), item.until


def _bounded(description: Description) -> Iterator[tuple[Path, Layer | Facts]]:
    """What is there for some releases only."""
    kinds: dict[str, tuple[Layer | Facts, ...]] = {"layer": description.layers, "facts": description.facts}
    for kind, items in kinds.items():
        for place, item in enumerate(items):
            yield (kind, str(place)), item


def minor_of(version: str) -> tuple[int, ...]:
    """`(2, 13)` of `2.13.0`."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
