"""The extensions: the only table that names them. Each has a door, `extension.py`, and is known by what that says."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from msgspec import Struct

_NAMES = ("browse",)  # folders of gradmill/extensions


class Extension(Struct, frozen=True):
    """What an extension adds. It names modules as text: they are loaded when they are used."""

    commands: str  # a module whose COMMANDS are rows of the table of commands
    queries: tuple[str, ...] = ()  # modules with queries, which no run of the core needs


@cache
def extensions() -> tuple[Extension, ...]:
    """The doors of all extensions."""
    return tuple(import_module(f"gradmill.extensions.{name}.extension").EXTENSION for name in _NAMES)
