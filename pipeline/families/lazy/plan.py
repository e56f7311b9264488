"""The plan of a function of the lazy backend: which pieces of text it has, and the facts that they need."""

from __future__ import annotations

from msgspec import Struct

from pipeline.families.backends.stubs import Stub, stub
from pipeline.families.lazy.ir import IrSchema, ir_schema
from pipeline.model.backends import BackendFunction
from pipeline.model.native import Kernel
from pipeline.releases.model import Release


class LazyPlan(Struct, frozen=True, gc=False, array_like=True):
    """A function of the backend."""

    stub: Stub
    symint: bool  # whether a SymInt becomes a value of its node
    node: IrSchema | None  # if it has a class of nodes


def plan(of: BackendFunction, release: Release) -> LazyPlan:
    """The plan of a function. Raises a SpecError for a type without C++, or without a lazy node."""
    own, member = stub(of, release), of.member
    symint = Kernel(member.kernel).supports_symint and member.key == of.backend.key
    return LazyPlan(own, symint, ir_schema(of.function.func, release, symint=symint) if member.has_node else None)
