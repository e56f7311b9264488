"""The `schemas` artifact: every native function, generated ones included."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
from msgspec import Raw, Struct

from pipeline.model.artifact import Artifact
from pipeline.model.native import FunctionHead, NativeFunction

_body_decoder = msgspec.msgpack.Decoder(NativeFunction)


class FunctionRow(Struct, frozen=True, gc=False, array_like=True):
    """One function: what it was made from, what others ask of it, and all of it, encoded."""

    key: bytes
    head: FunctionHead
    body: Raw


class Functions(Artifact, frozen=True, dict=True, tag="schemas/1"):
    """All functions: those of the file in its order, then the generated ones."""

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

    @cached_property
    def decoded(self) -> dict[int, NativeFunction]:
        return {}

    def function(self, index: int) -> NativeFunction:
        """The whole of one function; decoded when first asked for."""
        known = self.decoded.get(index)
        if known is None:
            known = self.decoded[index] = _body_decoder.decode(self.rows[index].body)
        return known
