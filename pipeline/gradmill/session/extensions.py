"""The extensions: the only table that names them. Each has a door, `extension.py`, and is known by what that says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from msgspec import Struct

_NAMES = ("verify", "browse")  # folders of gradmill/extensions


class Extension(Struct, frozen=True):
    """What an extension adds: modules, or what is in one (`module:name`), as text, loaded when it is used."""

    commands: str  # a module whose COMMANDS are rows of the table of commands
    queries: tuple[str, ...] = ()  # modules with queries, which no run of the core needs
    printed: str = ""  # the types of the JSON that its commands print, by name
    states: str = ""  # of a session with its stages up to date: what is known of units, by title, as a line
    garbage: str = ""  # of a cache and a folder's name in it: deletes what no run needs, yields what was `Collected`
    beside: str = ""  # of the command line's variables of `watch`: `start` after each pass, `stop` at the end


@cache
def extensions() -> tuple[Extension, ...]:
    """The doors of all extensions."""
    return tuple(import_module(f"gradmill.extensions.{name}.extension").EXTENSION for name in _NAMES)


def loaded(field: str) -> Iterator[Any]:
    """What the extensions name in a field, loaded."""
    for extension in extensions():
        module, _, name = getattr(extension, field).partition(":")
        if module:
            yield getattr(import_module(module), name)
