"""How graphs look up the operators of a spec set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from gradmill.extensions.graphs.traits import name_of
from gradmill.model.native import NativeFunction


class Op(Struct, frozen=True, array_like=True):
    """An operator overload, and its identity among the functions of its set."""

    function: str
    native: NativeFunction

    @property
    def name(self) -> str:
        """`aten::mul_.Tensor`."""
        return name_of(self.native)


class Ops(Protocol):
    """The operators of a set."""

    def overloads(self, name: str) -> Sequence[Op]:
        """All overloads of `aten::mul_`, in the order of the file; empty if the set has no such operator."""

    def near(self, name: str) -> str:
        """A hint that names the operator with the nearest name, "" if none is near."""
