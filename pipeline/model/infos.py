"""The artifacts between definitions and Nodes: `derivatives`, `infos`, `foreach` and `match`.

Which function a definition is for, what a foreach function refers to, which infos serve a function: these links depend
on the functions and on which of them have derivatives, not on what the derivatives say. They are artifacts of their
own, so that an edited formula looks nothing up again.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
from msgspec import Raw, Struct

from pipeline.model.artifact import Artifact, digest, digest_of
from pipeline.model.autograd import Definition, ForwardDerivative, Info
from pipeline.problems.problem import Problem

_info_decoder = msgspec.msgpack.Decoder(Info)
_definition_decoder = msgspec.msgpack.Decoder(Definition)
_rewritten_decoder = msgspec.msgpack.Decoder(dict[str, tuple[ForwardDerivative, ...]])


class DefinitionRow(Struct, frozen=True, gc=False, array_like=True):
    """One entry of derivatives.yaml that could be read."""

    entry: int
    source: bytes  # digest of the entry
    key: bytes  # digest of the definition
    schema: str
    name: str  # of the operator
    body: Raw
    warnings: tuple[Problem, ...] = ()

    @property
    def definition(self) -> Definition:
        return _definition_decoder.decode(self.body)


class Definitions(Artifact, frozen=True, dict=True, tag="derivatives/2"):
    """The definitions, in the order of the file."""

    rows: tuple[DefinitionRow, ...]


class Target(Struct, frozen=True, gc=False, array_like=True):
    """The function that a definition is for."""

    schema: str
    body: bytes  # digest of the function


class Targets(Artifact, frozen=True, dict=True, tag="targets/1"):
    """The functions that the definitions are for, in the same order; None for a definition that names none."""

    rows: tuple[Target | None, ...]
    copies: dict[str, str]  # a view with derivatives -> its copy variant without a definition of its own


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
    def shape(self) -> bytes:
        """Digest of which functions have infos, and for which dispatch keys: all that lookups depend on."""
        return digest_of([*(part for row in self.rows for part in (row.schema, row.dispatch_key)), "", *self.empty])

    @cached_property
    def digests(self) -> dict[tuple[str, str], bytes]:
        """Digests of the infos by schema and dispatch key."""
        return {(row.schema, row.dispatch_key): row.digest for row in self.rows}

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


class Reference(Struct, frozen=True, gc=False, array_like=True):
    """A foreach function without a definition of its own, and the function that is applied to each member."""

    schema: str
    name: str  # with overload
    inplace: bool
    body: bytes
    reference: str  # schema
    reference_name: str
    reference_body: bytes

    @property
    def base(self) -> str:
        """`_foreach_add` of `_foreach_add.List`."""
        return self.name.partition(".")[0]

    @property
    def overload(self) -> str:
        return self.name.partition(".")[2]


class References(Artifact, frozen=True, dict=True, tag="references/1"):
    """What foreach functions refer to, in the order in which their Nodes are printed."""

    rows: tuple[Reference, ...]


class Foreach(Artifact, frozen=True, dict=True, tag="foreach/1"):
    """What foreach functions without a definition of their own differentiate by."""

    infos: Infos  # synthesized: out-of-place functions
    borrowed: dict[str, str]  # in-place function -> the function whose info serves it


class Pair(Struct, frozen=True, gc=False, array_like=True):
    """One native function, and the functions whose infos serve it."""

    func: str
    source: dict[str, str] | None  # dispatch key -> the function whose info it is


class Pairs(Artifact, frozen=True, dict=True, tag="match/2"):
    """Every native function, sorted by C++ name."""

    rows: tuple[Pair, ...]


class Dependent(Struct, frozen=True, gc=False, array_like=True):
    """A function for which it matters what the infos that serve it say."""

    func: str
    name: str  # with overload
    inplace: bool  # else generated from a mutable function
    exact: bool  # whether the infos were written for it
    source: dict[str, str]


class Dependents(Artifact, frozen=True, dict=True, tag="dependents/1"):
    """In-place functions with derivatives, and functional variants generated from mutable ones."""

    rows: tuple[Dependent, ...]


class RewrittenRow(Struct, frozen=True, gc=False, array_like=True):
    """Forward derivatives of an in-place function by dispatch key, and what they were made from."""

    key: bytes
    body: Raw

    @property
    def derivatives(self) -> dict[str, tuple[ForwardDerivative, ...]]:
        return _rewritten_decoder.decode(self.body)


class Rewritten(Artifact, frozen=True, dict=True, tag="rewritten/1"):
    """What was made for dependent functions: forward derivatives for those that are in-place."""

    rows: dict[str, RewrittenRow]


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

    def names(self) -> bytes:
        """Digest of which Nodes there are, and of what: all that the division into files depends on."""
        return digest_of(
            [part for r in self.rows for part in (r.node, r.name, r.schema, r.dispatch_key, f"{r.synthesized}")]
        )
