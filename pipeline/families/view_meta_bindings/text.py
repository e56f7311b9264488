"""Renders the Python bindings of a view's ViewMetas."""

from __future__ import annotations

from pipeline.families.sections import Text
from pipeline.releases.model import Release

_TEXT = Text("view_meta_bindings/view_meta_bindings.cpp")


def binding(names: tuple[str, ...], release: Release) -> str:
    """The bindings of classes."""
    return "".join(_TEXT.of(release)["binding"].fill({"name": name}) for name in names)
