"""The data of a comparison: `gradmill.reports.diff.compare` builds it, and text, JSON and HTML render it."""

from __future__ import annotations

from enum import Enum
from typing import Literal, Self

from msgspec import Struct


class _Labelled(Enum):
    """Members with a label for readers next to their value."""

    label: str

    def __new__(cls, value: str, label: str = "") -> Self:
        member = object.__new__(cls)
        member._value_, member.label = value, label or value
        return member


class Kind(_Labelled):
    """A kind of change in an operator's derivatives. The value is its name in JSON and in links."""

    ADDED = "added"
    REMOVED = "removed"
    SCHEMA = "schema", "schema changed"
    RENUMBERED = "renumbered", "Node renumbered"
    GRADIENT_GAINED = "gradient-gained", "gradient gained"
    GRADIENT_LOST = "gradient-lost", "gradient lost"
    FORMULA = "formula", "formula changed"
    FORWARD_GAINED = "forward-gained", "forward derivative gained"
    FORWARD_LOST = "forward-lost", "forward derivative lost"
    FORWARD_FORMULA = "forward-formula", "forward formula changed"
    SAVED = "saved", "saved variables changed"
    OUTPUTS = "outputs", "differentiable outputs changed"
    VARIANTS = "variants", "variants changed"


class Part(_Labelled):
    """The part of an operator's derivatives that changed."""

    # Labels are titles; {} is what changed.
    SCHEMA = "schema"
    NODE = "node", "Node"
    GRADIENT = "gradient", "gradient of {}"  # by input
    TANGENT = "tangent", "tangent of {}"  # by output: the forward derivative
    SAVED = "saved", "saves"  # by attribute
    OUTPUTS = "outputs", "differentiable outputs"
    VARIANTS = "variants", "serves"  # by function: those that use the same formulas


class Change(Struct, frozen=True):
    """One difference. `before` is empty if it was added, `after` if it was removed."""

    kind: Kind
    part: Part
    names: tuple[str, ...]  # inputs, outputs, attributes or functions with the same change
    before: str
    after: str


class Seen(Struct, frozen=True):
    """An operator on one side."""

    schema: str
    node: str | None
    line: int  # of its entry in derivatives.yaml


class OpChange(Struct, frozen=True):
    """All changes of one operator under one dispatch key."""

    op: str  # with its overload name
    dispatch_key: str
    before: Seen | None
    after: Seen | None
    follows: str  # of a foreach function: the operator that its formulas are synthesized from
    note: str  # what the operator is on the other side, if only one side defines derivatives for it
    changes: tuple[Change, ...]

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of its changes, without duplicates."""
        changed = {change.kind for change in self.changes}
        return [kind for kind in Kind if kind in changed]

    @property
    def label(self) -> str:
        """The operator, followed by the dispatch key unless that is the default."""
        return self.op if self.dispatch_key == "Default" else f"{self.op} [{self.dispatch_key}]"


class SetSide(Struct, frozen=True):
    """One of the two spec sets. `version` is the version that the set declares, "" if it has none."""

    specs: str
    version: str
    release: str  # the minor release that it is read as


class Side(SetSide, frozen=True):
    """The same, with the size of its autograd."""

    operators: int  # with derivatives; without foreach functions
    nodes: int


class Count(Struct, frozen=True):
    """The number of operators with one kind of change: with their own formulas, and synthesized foreach functions."""

    kind: Kind
    operators: int
    foreach: int


class EntryChange(Struct, frozen=True):
    """The texts of an entry that differ: of a Python name its signatures and the fields of named results, or its
    required arguments; of a function of the lazy backend its lists, kernel and node."""

    name: str  # `torch.add`; `Tensor.add` for a method; an operator with its overload name
    before: tuple[str, ...]  # those that were removed
    after: tuple[str, ...]  # those that were added
    change: Literal["added", "removed", "changed"]  # of the name


class Report(Struct, frozen=True):
    """The changes from `before` to `after`."""

    before: Side
    after: Side
    counts: tuple[Count, ...]
    ops: tuple[OpChange, ...]
    # Of the families in COMPARED that are requested and that both sides have:
    bindings: tuple[EntryChange, ...] = ()
    annotated_args: tuple[EntryChange, ...] = ()
    lazy: tuple[EntryChange, ...] = ()
