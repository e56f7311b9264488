"""One generated file, as data: what the build needs to know of it without loading any output family."""

from __future__ import annotations

from msgspec import Struct


class File(Struct, frozen=True, gc=False):
    """A template, its constant holes, and the holes that take a piece of each Node."""

    name: str
    template: str
    constants: dict[str, str | list[str]]
    slots: dict[str, str]  # hole -> piece
    nodes: tuple[str, ...]  # in the order of the file
