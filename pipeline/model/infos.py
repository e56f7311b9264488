"""The artifacts between definitions and Nodes: `derivatives`, `infos`, `foreach` and `match`."""

from __future__ import annotations

from functools import cached_property

import msgspec
from msgspec import Raw, Struct

from pipeline.model.artifact import Artifact, digest
from pipeline.model.autograd import Definition, ForwardDerivative, Info
from pipeline.problems import Problem

_info_decoder = msgspec.msgpack.Decoder(Info)


class DefinitionRow(Struct, frozen=True, gc=False, array_like=True):
    """One entry of derivatives.yaml that could be read."""

    entry: int
    key: bytes  # digest of the definition
    definition: Definition


class Definitions(Artifact, frozen=True, dict=True, tag="derivatives/1"):
    """The definitions, in the order of the file."""

    rows: tuple[DefinitionRow, ...]


class InfoRow(Struct, frozen=True, gc=False, array_like=True):
    """The info of one function under one dispatch key, and the Node it is printed as."""

    key: bytes  # what the info was made from
    entry: int  # of derivatives.yaml
    schema: str  # of the function
    dispatch_key: str
    name: str  # of the operator: decides the shard
    node: str | None  # the C++ struct; None where there is no derivative to compute
    body: Raw
    warnings: tuple[Problem, ...] = ()

    @property
    def info(self) -> Info:
        return _info_decoder.decode(self.body)

    @property
    def digest(self) -> bytes:
        """Digest of the info: what the text of the Node is made from, its name aside."""
        return digest(bytes(self.body))


class Infos(Artifact, frozen=True, dict=True, tag="infos/1"):
    """Infos in the order in which Nodes are printed. Also used for the synthesized ones."""

    rows: tuple[InfoRow, ...]
    empty: dict[str, int] = {}  # functions whose definition has no dispatch key at all, and the entry

    @cached_property
    def by_schema(self) -> dict[str, dict[str, InfoRow]]:
        """Rows by function and dispatch key."""
        found: dict[str, dict[str, InfoRow]] = {}
        for row in self.rows:
            found.setdefault(row.schema, {})[row.dispatch_key] = row
        return found

    @cached_property
    def decoded(self) -> dict[tuple[str, str], Info]:
        return {}

    def info(self, row: InfoRow) -> Info:
        """The info of a row; decoded when first asked for."""
        at = (row.schema, row.dispatch_key)
        known = self.decoded.get(at)
        if known is None:
            known = self.decoded[at] = row.info
        return known


class Foreach(Artifact, frozen=True, dict=True, tag="foreach/1"):
    """What foreach functions without a definition of their own differentiate by."""

    infos: Infos  # synthesized: out-of-place functions
    borrowed: dict[str, str]  # in-place function -> the function whose info serves it


class Matched(Struct, frozen=True, gc=False, array_like=True):
    """One native function and its derivatives."""

    func: str
    source: dict[str, str] | None  # dispatch key -> the function whose info it is
    rewritten: dict[str, tuple[ForwardDerivative, ...]] | None = None  # in-place: forward derivatives made for it


class Matches(Artifact, frozen=True, dict=True, tag="match/1"):
    """Every native function, sorted by C++ name."""

    rows: tuple[Matched, ...]


class NodeRow(Struct, frozen=True, gc=False, array_like=True):
    """What it takes to print one Node, and where to."""

    node: str
    name: str  # of the operator
    schema: str
    dispatch_key: str
    entry: int
    synthesized: bool
    info: bytes  # digest of the info


class Nodes(Artifact, frozen=True, dict=True, tag="nodes/1"):
    """The index of all Nodes, in the order in which they are printed: the synthesized ones last."""

    rows: tuple[NodeRow, ...]
