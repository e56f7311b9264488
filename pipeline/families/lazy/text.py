"""Renders a function of the lazy backend: its nodes' class, its kernel, its stub."""

from __future__ import annotations

from pipeline.families.backends.stubs import pieces as pieces_of_stub
from pipeline.families.lazy import files
from pipeline.families.lazy.kernel_text import Traced, kernel, shape_function
from pipeline.families.lazy.node_text import node
from pipeline.families.lazy.plan import LazyPlan
from pipeline.releases.model import Release


def render(plan: LazyPlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name. Raises a SpecError for a function that has no generated kernel or wrapper."""
    of, schema, pieces = plan.stub.of, plan.node, {}
    if schema is not None:
        pieces[files.NODE] = node(schema, release)
    if schema is not None and of.member.traced:
        traced = Traced(of.function, schema, of.backend.class_name, of.member.kernel, plan.symint)
        pieces[files.KERNEL] = kernel(traced, release)
        pieces[files.SHAPE_FUNCTION] = shape_function(of.function, of.member.kernel, release, symint=plan.symint)
    return {**pieces, **pieces_of_stub(plan.stub, release)}
