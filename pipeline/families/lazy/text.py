"""Renders a function of the lazy backend: its nodes' class, its kernel, its registration."""

from __future__ import annotations

from pipeline.families.backends.registration import definition, registration
from pipeline.families.family import DECLARATION, REGISTRATION
from pipeline.families.lazy import files
from pipeline.families.lazy.kernel_text import Traced, kernel, shape_function
from pipeline.families.lazy.node_text import node
from pipeline.families.lazy.plan import LazyPlan
from pipeline.releases.model import Release


def render(plan: LazyPlan, release: Release) -> dict[str, str]:
    """The pieces of its text, by name. Raises a SpecError for a function that has no generated kernel or wrapper."""
    member, schema, pieces = plan.of.member, plan.node, {}
    if schema is not None:
        pieces[files.NODE] = node(schema, release)
    if schema is not None and member.traced:
        function = plan.of.function
        traced = Traced(function, schema, plan.of.backend.class_name, member.kernel, plan.symint)
        pieces[files.KERNEL] = kernel(traced, release)
        pieces[files.SHAPE_FUNCTION] = shape_function(function, member.kernel, release, symint=plan.symint)
    if plan.declaration:
        ours = member.key == plan.of.backend.key
        pieces[DECLARATION if ours else files.AUTOGRAD_DECLARATION] = plan.declaration
    if plan.registered:
        pieces[files.WRAPPER] = definition(plan.of, release)
        pieces[REGISTRATION] = registration(plan.of, release)
    return pieces
