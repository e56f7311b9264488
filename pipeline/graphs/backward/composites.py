"""Operators made of others whose gradients are computed at once, and not by what recorded them.

An entry says which function of `graph.h` computes them, and which arguments it asks for: each is needed for the
gradients of the inputs that stand beside it.
"""

from __future__ import annotations

from msgspec import Struct


class Composite(Struct, frozen=True):
    """The gradients of an operator made of others."""

    gradients: str  # the function: of the incoming gradient, what is saved, and which inputs need a gradient
    inputs: tuple[str, ...]  # that have gradients, in the order of the results
    saved: tuple[tuple[str, tuple[str, ...]], ...]  # arguments, and the inputs whose gradients are made of them


COMPOSITES = {
    "linear": Composite(
        "linear_gradients", ("input", "weight", "bias"), (("input", ("weight",)), ("weight", ("input",)))
    ),
    "matmul": Composite("matmul_gradients", ("self", "other"), (("self", ("other",)), ("other", ("self",)))),
}
