"""The report of a comparison, as data. `pipeline.reports.diff.compare` makes it; text, JSON and HTML render it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Kind(Enum):
    """What can change about an operator's derivatives. The value is its name in JSON and in links."""

    ADDED = "added"
    REMOVED = "removed"
    SCHEMA = "schema"
    RENUMBERED = "renumbered"
    GRADIENT_GAINED = "gradient-gained"
    GRADIENT_LOST = "gradient-lost"
    FORMULA = "formula"
    FORWARD_GAINED = "forward-gained"
    FORWARD_LOST = "forward-lost"
    FORWARD_FORMULA = "forward-formula"
    SAVED = "saved"
    OUTPUTS = "outputs"
    VARIANTS = "variants"


# Each kind in words, in the order of reports.
LABELS = {
    Kind.ADDED: "added",
    Kind.REMOVED: "removed",
    Kind.SCHEMA: "schema changed",
    Kind.RENUMBERED: "Node renumbered",
    Kind.GRADIENT_GAINED: "gradient gained",
    Kind.GRADIENT_LOST: "gradient lost",
    Kind.FORMULA: "formula changed",
    Kind.FORWARD_GAINED: "forward derivative gained",
    Kind.FORWARD_LOST: "forward derivative lost",
    Kind.FORWARD_FORMULA: "forward formula changed",
    Kind.SAVED: "saved variables changed",
    Kind.OUTPUTS: "differentiable outputs changed",
    Kind.VARIANTS: "variants changed",
}


class Part(Enum):
    """The part of an operator's derivatives that a change is in."""

    SCHEMA = "schema"
    NODE = "node"
    GRADIENT = "gradient"  # by input
    TANGENT = "tangent"  # by output: the forward derivative
    SAVED = "saved"  # by attribute
    OUTPUTS = "outputs"
    VARIANTS = "variants"  # by function: others that the formulas serve


class Change(Struct, frozen=True):
    """One difference: `before` is empty for what was gained, `after` for what was lost."""

    kind: Kind
    part: Part
    names: tuple[str, ...]  # inputs, outputs, attributes or functions that changed alike
    before: str
    after: str


class Seen(Struct, frozen=True):
    """An operator as one side has it."""

    schema: str
    node: str | None
    line: int  # of its entry in derivatives.yaml


class OpChange(Struct, frozen=True):
    """All that changed about one operator under one dispatch key."""

    op: str  # with overload
    dispatch_key: str
    before: Seen | None
    after: Seen | None
    follows: str  # foreach: the operator whose formulas these were synthesized from
    note: str  # what became of, or had been, an operator that only one side defines derivatives for
    changes: tuple[Change, ...]

    @property
    def kinds(self) -> list[Kind]:
        """What changed, each kind once."""
        found = {change.kind for change in self.changes}
        return [kind for kind in Kind if kind in found]

    @property
    def label(self) -> str:
        """The operator, and the dispatch key where it is not the default."""
        return self.op if self.dispatch_key == "Default" else f"{self.op} [{self.dispatch_key}]"


class Side(Struct, frozen=True):
    """One of the two spec sets. `version` is what the set says of itself, "" when it says nothing."""

    specs: str
    version: str
    release: str  # the minor release it was read as
    operators: int  # with derivatives, foreach functions left out
    nodes: int


class Count(Struct, frozen=True):
    """How many operators changed in one way: those with formulas of their own, and synthesized foreach functions."""

    kind: Kind
    operators: int
    foreach: int


class Report(Struct, frozen=True):
    """A comparison: from `before` to `after`."""

    before: Side
    after: Side
    counts: tuple[Count, ...]
    ops: tuple[OpChange, ...]
