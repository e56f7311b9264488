"""The `schemas` artifacts: every native function, generated ones included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import msgspec
from msgspec import Raw, Struct

from pipeline.model.artifact import Artifact
from pipeline.model.native import FunctionHead, NativeFunction

_body_decoder = msgspec.msgpack.Decoder(NativeFunction)


class FunctionRow(Struct, frozen=True, gc=False, array_like=True):
    """One function: what it was made from, and what others ask of it."""

    key: bytes
    head: FunctionHead


class Functions(Artifact, frozen=True, dict=True, tag="schemas/2"):
    """All functions: those of the file in its order, then the generated ones. `Bodies` has the whole of each."""

    rows: tuple[FunctionRow, ...]
    grouped: tuple[int, ...]  # indices in the order of the view groups
    copies: dict[int, int]  # view -> its copy variant

    @cached_property
    def heads(self) -> Sequence[FunctionHead]:
        return [row.head for row in self.rows]

    @cached_property
    def by_schema(self) -> dict[str, int]:
        """Index of a function by its schema's text."""
        return {row.head.schema: i for i, row in enumerate(self.rows)}

    @cached_property
    def by_signature(self) -> dict[str, list[int]]:
        """Indices of the functions that share a signature, in grouped order."""
        found: dict[str, list[int]] = {}
        for i in self.grouped:
            found.setdefault(self.rows[i].head.signature, []).append(i)
        return found

    @cached_property
    def unqualified_names(self) -> tuple[str, ...]:
        """What all functions are called, without namespace."""
        return tuple(sorted({head.unqualified for head in self.heads}))


class Bodies(Artifact, frozen=True, dict=True, tag="bodies/1"):
    """Whole functions by digest: a `FunctionHead` names its own."""

    rows: dict[bytes, Raw]

    @cached_property
    def decoded(self) -> dict[bytes, NativeFunction]:
        return {}

    def function(self, name: bytes) -> NativeFunction:
        """A whole function; decoded when first asked for."""
        known = self.decoded.get(name)
        if known is None:
            known = self.decoded[name] = _body_decoder.decode(self.rows[name])
        return known


class FunctionTable:
    """All functions, their heads and bodies read when first asked for. `name` is the digest of what they say."""

    def __init__(self, name: bytes, functions: Callable[[], Functions], bodies: Callable[[], Bodies]) -> None:
        self.name = name
        self._functions = functions
        self._bodies = bodies

    @cached_property
    def all(self) -> Functions:
        return self._functions()

    @cached_property
    def bodies(self) -> Bodies:
        return self._bodies()

    @property
    def heads(self) -> Sequence[FunctionHead]:
        return self.all.heads

    @property
    def by_schema(self) -> dict[str, int]:
        return self.all.by_schema

    def function(self, index: int) -> NativeFunction:
        """The whole of one function."""
        return self.bodies.function(self.heads[index].body)
