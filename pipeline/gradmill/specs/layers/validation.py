"""Validates a description without looking at any files: names, releases, keys that exclude one another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gradmill.model.layers import LAYER_MARK, Words, listed
from gradmill.model.regex import regex
from gradmill.problems.problem import Role, nearest
from gradmill.specs.layers.description import TAKE, Description, Layer, SpecFile, SpecFiles
from gradmill.specs.layers.reading import Diagnostic, Path, Written
from gradmill.specs.layers.releases import bounded, doubled, minor_of

_RELEASE = regex(r"\d+\.\d+(\.\d+)?")
_LAYER = regex(r"[\w.+-]+")


class LayerFile(NamedTuple):
    """One file of a layer in a description."""

    role: Role
    at: Path  # of the file's table or text
    file: SpecFile
    named: Path  # of the key with its name


def files_of(place: int, layer: Layer) -> Iterator[LayerFile]:
    """The files of a layer, role by role; `place` is its index in the description."""
    by_role: dict[Role, SpecFiles] = {"native": layer.native, "tags": layer.tags, "derivatives": layer.derivatives}
    for role, files in by_role.items():
        for number, item in enumerate(files if isinstance(files, tuple) else (files,)):
            at: Path = ("layer", str(place), role, *((str(number),) if isinstance(files, tuple) else ()))
            if isinstance(item, str):
                yield LayerFile(role, at, SpecFile(item), at)
            else:
                yield LayerFile(role, at, item, (*at, "diff" if item.diff else "file"))


def validate(written: Written) -> Iterator[Diagnostic]:
    """All errors of a description that show without its files."""
    description = written.description
    names = [layer.name for layer in description.layers]
    for place, layer in enumerate(description.layers):
        at = ("layer", str(place), "name")
        if not _LAYER.fullmatch(layer.name) or LAYER_MARK.strip() in layer.name:
            yield Diagnostic(at, f"'{layer.name}' is not a valid layer name", "write letters, digits, - and _")
        elif layer.name in names[:place]:
            yield Diagnostic(at, f"a second layer is called '{layer.name}'", "give each layer its own name")
        yield from _validate_files(place, layer)
        if layer.namespace and not layer.namespace.isidentifier():
            yield Diagnostic(
                (*at[:2], "namespace"), f"'{layer.namespace}' is not a namespace", "write a C++ identifier"
            )
    yield from _validate_empty(written)
    name = description.name
    if name and not _is_plain(name):
        yield Diagnostic(("name",), f"'{name}' cannot name a folder", "write a plain name")
    for family, rules in description.family.items():
        for template, file in rules.file.items():
            if not _is_plain(file.name or template):
                at = ("family", family, "file", template, *(("name",) if file.name else ()))
                yield Diagnostic(at, f"'{file.name or template}' cannot name a file", "write a plain name: name = …")
    for path, text in _replaced(description):
        if not text:
            yield Diagnostic(
                (*path, "from"), "an empty text matches everywhere", "write the text to replace", 'from = ""'
            )
    for path, release in _releases(written):
        if release and not _RELEASE.fullmatch(release):
            yield Diagnostic(path, f"'{release}' is not a release", "write one such as 2.13")
    yield from _validate_taken(description.functions.take)
    yield from _validate_ignored(description)
    yield from _validate_releases(written)


def _validate_empty(written: Written) -> Iterator[Diagnostic]:
    """Reports empty lists in whose place, if they were missing, all would be meant."""
    value = written.value
    lists: list[tuple[Path, object]] = [(("families",), value.get("families"))]
    lists.append((("functions", "take"), value.get("functions", {}).get("take")))
    lists += [(("family", name, "files"), rules.get("files")) for name, rules in value.get("family", {}).items()]
    for path, names in lists:
        if names == []:
            yield Diagnostic(path, f"'{path[-1]}' names nothing", "leave it out for all, or name some")


def _validate_taken(take: Words) -> Iterator[Diagnostic]:
    """Reports unknown words in `take`; the stages check the names of tags, layers and keys."""
    for place, word in enumerate(listed(take)):
        if word not in TAKE and not re.match(r"(tag|layer|key):[^:]", word):
            path = ("functions", "take", *((str(place),) if isinstance(take, tuple) else ()))
            hint = nearest(word, TAKE) or f"write one of {', '.join(TAKE)}"
            yield Diagnostic(path, f"there is no '{word}'", hint, word)


def _validate_ignored(description: Description) -> Iterator[Diagnostic]:
    """Reports silences of unknown rules, or without a reason."""
    if not description.ignore:
        return
    from gradmill.problems.catalog.table import RULES

    for place, ignore in enumerate(description.ignore):
        at = ("ignore", str(place))
        if ignore.rule not in RULES:
            hint = nearest(ignore.rule, RULES) or "gradmill rule lists all"
            yield Diagnostic((*at, "rule"), f"no rule is called '{ignore.rule}'", hint, ignore.rule)
        if not ignore.reason.strip():
            yield Diagnostic((*at, "reason"), "the reason is empty", "write why the warning does not apply")


def _validate_releases(written: Written) -> Iterator[Diagnostic]:
    """Reports a release that has two bases or two values of a text, and a `since` that is after `until`."""
    first: dict[tuple[int, ...], str] = {}
    for key in written.description.base.releases:
        if minor_of(key) and first.setdefault(minor_of(key), key) != key:
            duplicate = f"'{key}' is the same release as '{first[minor_of(key)]}'"
            yield Diagnostic(("base", "releases", key), duplicate, "remove one of them")
    for path, since, until in bounded(written.value):
        if minor_of(since) > minor_of(until) > ():
            yield Diagnostic((*path, "since"), f"since {since} is later than until {until}", "swap them")
    for path, release in doubled(written.value):
        problem = f"another value applies to release {release}, too" if release else "another value applies, too"
        yield Diagnostic(path, problem, "limit one of them with since and until")


def _validate_files(place: int, layer: Layer) -> Iterator[Diagnostic]:
    """Reports keys of a layer's files that exclude one another."""
    for _, at, file, _ in files_of(place, layer):
        if bool(file.file) == bool(file.diff):
            problem = "both a file and a diff" if file.file else "neither a file nor a diff"
            yield Diagnostic(at, problem, "write file = … or diff = …")
        if file.drop and file.keep:
            yield Diagnostic((*at, "drop"), "keep already ignores all other keys", "remove drop, or keep")
        if file.diff:
            settings = {"list": file.lists, "drop": file.drop, "keep": file.keep, "versions": file.versions}
            for key in [key for key, value in settings.items() if value]:
                yield Diagnostic((*at, key), f"'{key}' has no effect with a diff", "remove it")


def _is_plain(name: str) -> bool:
    """Whether a name has no path separator and no control character, and does not start with a dot."""
    return not (re.search(r"[/\\\x00-\x1f\x7f]", name) or name.startswith("."))


def _replaced(description: Description) -> Iterator[tuple[Path, str]]:
    """Each text to replace, and the path of its rule."""
    for place, rewrite in enumerate(description.base.rewrite):
        yield ("base", "rewrite", str(place)), rewrite.from_
    for family, rules in description.family.items():
        for place, edit in enumerate(rules.replace):
            yield ("family", family, "replace", str(place)), edit.from_


def _releases(written: Written) -> Iterator[tuple[Path, str]]:
    yield ("release",), written.description.release
    for key in written.description.base.releases:
        yield ("base", "releases", key), key
    for path, since, until in bounded(written.value):
        yield (*path, "since"), since
        yield (*path, "until"), until
