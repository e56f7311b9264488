"""Renders a function of the lazy backend: its nodes' class, its kernel, its stub."""

from __future__ import annotations

from gradmill.families.backends.stubs import stub
from gradmill.families.lazy import KERNEL, NODE, SHAPE_FUNCTION
from gradmill.families.lazy.ir import IrSchema, ir_schema
from gradmill.families.lazy.kernel_text import kernel, shape_function
from gradmill.families.lazy.node_text import node
from gradmill.model.backends import BackendFunction
from gradmill.model.native import Kernel
from gradmill.releases.model import Release


def render(of: BackendFunction, release: Release) -> dict[str, str]:
    """The pieces of a function, by name. Raises a SpecError for a type without C++, or a function that has no lazy
    node, generated kernel or wrapper."""
    member, function, pieces, schema = of.member, of.function, stub(of, release), node_of(of, release)
    if schema is not None:
        pieces[NODE] = node(schema, release)
    if schema is not None and member.traced:
        symint = _takes_symint(of)
        pieces[KERNEL] = kernel(of, schema, release, symint=symint)
        pieces[SHAPE_FUNCTION] = shape_function(function, member.kernel, release, symint=symint)
    return pieces


def node_of(of: BackendFunction, release: Release) -> IrSchema | None:
    """A function as its node sees it; None if it has none. Raises a SpecError for an argument that no node can have."""
    return ir_schema(of.function.func, release, symint=_takes_symint(of)) if of.member.has_node else None


def _takes_symint(of: BackendFunction) -> bool:
    """Whether a SymInt becomes a value of the function's node."""
    return Kernel(of.member.kernel).supports_symint and of.member.key == of.backend.key
