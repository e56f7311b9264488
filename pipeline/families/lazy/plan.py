"""The plan of a function of the lazy backend: which pieces of text it has, and the facts that they need."""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.backend_kernels import declarator
from pipeline.families.lazy.ir import IrSchema, ir_schema
from pipeline.model.backends import BackendFunction
from pipeline.model.native import Kernel
from pipeline.model.schema import has_symint
from pipeline.problems.problem import SpecError
from pipeline.releases.model import Release


class LazyPlan(Struct, frozen=True, gc=False, array_like=True):
    """A function of the backend."""

    of: BackendFunction
    symint: bool  # whether a SymInt becomes a value of its node
    node: IrSchema | None  # if it has a class of nodes
    declaration: str  # of its kernel; "" if it has none
    registered: bool  # whether it is registered: the key has a kernel, made by hand or as a wrapper


def plan(of: BackendFunction, release: Release) -> LazyPlan:
    """The plan of a function. Raises a SpecError for a type without C++, or without a lazy node."""
    member = of.member
    takes_symint = Kernel(member.kernel).supports_symint
    if takes_symint and not has_symint(of.function.func):
        problem = f"the kernel of '{of.function.func.name}' cannot take SymInt: its schema has none"
        raise SpecError(problem, "remove it from symint", field=("func",))
    symint = takes_symint and member.key == of.backend.key
    node = ir_schema(of.function.func, release, symint=symint) if member.has_node else None
    declared = declarator(of.function, member.kernel, release, symint=takes_symint) if member.kernel else ""
    registered = bool(member.key) and not of.function.manual_kernel_registration
    return LazyPlan(of, symint, node, f"static {declared};" if declared else "", registered)
