"""The plan and the text of a function of the lazy backend: its nodes' class, its kernel, its stub."""

from __future__ import annotations

from msgspec import Struct

from gradmill.families.backends.stubs import Stub, stub
from gradmill.families.backends.stubs import pieces as pieces_of_stub
from gradmill.families.lazy import files
from gradmill.families.lazy.ir import IrSchema, ir_schema
from gradmill.families.lazy.kernel_text import Traced, kernel, shape_function
from gradmill.families.lazy.node_text import node
from gradmill.model.backends import BackendFunction
from gradmill.model.native import Kernel
from gradmill.releases.model import Release


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


def render(plan: LazyPlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name. Raises a SpecError for a function that has no generated kernel or wrapper."""
    of, schema, pieces = plan.stub.of, plan.node, {}
    if schema is not None:
        pieces[files.NODE] = node(schema, release)
    if schema is not None and of.member.traced:
        traced = Traced(
            function=of.function,
            schema=schema,
            class_name=of.backend.class_name,
            kernel=of.member.kernel,
            symint=plan.symint,
        )
        pieces[files.KERNEL] = kernel(traced, release)
        pieces[files.SHAPE_FUNCTION] = shape_function(of.function, of.member.kernel, release, symint=plan.symint)
    return {**pieces, **pieces_of_stub(plan.stub, release)}
