"""What is wrong with a description by itself, whatever files there are: names, releases, keys against one another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.model.layers import LAYER_MARK
from pipeline.model.regex import regex
from pipeline.specs.layers.description import Description, Edit, Facts, Layer, Replace
from pipeline.specs.layers.reading import Mistake

_RELEASE = regex(r"\d+\.\d+(\.\d+)?")
_LAYER = regex(r"[\w.+-]+")


def wrong(description: Description) -> Iterator[Mistake]:
    """All that is wrong."""
    names = [layer.name for layer in description.layers]
    for place, layer in enumerate(description.layers):
        at = ("layer", str(place), "name")
        if not _LAYER.fullmatch(layer.name) or LAYER_MARK.strip() in layer.name:
            yield Mistake(at, f"'{layer.name}' is no name for a layer", "write letters, digits, - and _")
        elif layer.name in names[:place]:
            yield Mistake(at, f"a second layer is called '{layer.name}'", "give each layer a name of its own")
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
    for path, text in _replaced(description):
        if not text:
            yield Mistake(
                (*path, "from"), "an empty text stands everywhere", "write what is to be replaced", 'from = ""'
            )
    for path, release in _releases(description):
        if release and not _RELEASE.fullmatch(release):
            yield Mistake(path, f"'{release}' is no release", "write one such as 2.13")


def _is_plain(name: str) -> bool:
    """Whether a name leads nowhere else."""
    return not (re.search(r"[/\\\0]", name) or name.startswith("."))


def _replaced(description: Description) -> Iterator[tuple[tuple[str, ...], str]]:
    """The texts that are replaced by others."""
    for place, rewrite in enumerate(description.base.rewrite):
        yield ("base", "rewrite", str(place)), rewrite.from_
    for family, rules in description.family.items():
        kinds: dict[str, tuple[Replace | Edit, ...]] = {"replace": rules.replace, "in_templates": rules.in_templates}
        for kind, edits in kinds.items():
            for place, edit in enumerate(edits):
                yield ("family", family, kind, str(place)), edit.from_


def _releases(description: Description) -> Iterator[tuple[tuple[str, ...], str]]:
    yield ("release",), description.release
    for key in description.base.releases:
        yield ("base", "releases", key), key
    bounded: dict[str, tuple[Layer | Facts, ...]] = {"layer": description.layers, "facts": description.facts}
    for kind, items in bounded.items():
        for place, item in enumerate(items):
            yield (kind, str(place), "since"), item.since
            yield (kind, str(place), "until"), item.until


def minor_of(version: str) -> tuple[int, ...]:
    """`(2, 13)` of `2.13.0`."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
