"""Composite operators whose gradients a function of `graph.h` computes, so that the graph need not record them.

An entry names that function, and the arguments that it uses, each with the inputs whose gradients use it.
"""

from __future__ import annotations

from msgspec import Struct


class Composite(Struct, frozen=True):
    """The gradients of a composite operator."""

    gradients: str  # the function: takes the incoming gradient, the saved arguments, and which inputs need a gradient
    inputs: tuple[str, ...]  # the inputs with gradients, in the order of the function's results
    saved: tuple[tuple[str, tuple[str, ...]], ...]  # each argument, with the inputs whose gradients use it


COMPOSITES = {
    "linear": Composite(
        "linear_gradients", ("input", "weight", "bias"), (("input", ("weight",)), ("weight", ("input",)))
    ),
    "matmul": Composite("matmul_gradients", ("self", "other"), (("self", ("other",)), ("other", ("self",)))),
}

# What batch_norm is decomposed into. It does not call these for an empty batch, which their kernels do not take: that
# of the backward divides by zero.
BATCH_NORMS = frozenset("native_batch_norm _native_batch_norm_legit _batch_norm_with_update".split())

# Composite operators that a graph records: the function of `graph.h` that it calls to record them with dropout.
RECORDED_WITH_DROPOUT = {"scaled_dot_product_attention": "attention"}
