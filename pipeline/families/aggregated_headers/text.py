"""Renders what a group of variants declares in the headers of all kernels."""

from __future__ import annotations

from pipeline.families.aggregated_headers.files import piece_in
from pipeline.families.aggregated_headers.plan import Declarations
from pipeline.families.kernel_headers.files import META
from pipeline.families.kernel_headers.text import kernel_text, meta_text
from pipeline.releases.model import Release


def render(plan: Declarations, release: Release) -> dict[str, str]:
    """The pieces by name."""
    pieces = {META: "" if plan.meta is None else meta_text(plan.meta, release)}
    for namespace, kernels in plan.kernels:
        pieces[piece_in("", namespace)] = "\n".join(kernel_text(*each, release) for each in kernels)
    for key, namespace, declarations in plan.functions:
        pieces[piece_in(key, namespace)] = "\n".join(declarations)
    return pieces
