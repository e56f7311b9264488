"""Gradients that cost less than by the formula of an operator, or by a record of its call.

Of some composite operators a function of `graph.h` computes the gradients, so that the graph need not record them. A
view of a part of a tensor has a gradient that is zero elsewhere: if the tensor has another gradient already, the view's
can be added to that part of it, one pass over the part in place of zeros of the whole size and a sum of that size.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.model.autograd import Reverse


class Composite(Struct, frozen=True):
    """The gradients of a composite operator: the function, and the arguments that it uses."""

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

# By the formula of a gradient, as in derivatives.yaml: the same view of another tensor.
_PARTS = {
    "select_backward_symint(grad, self_sym_sizes, dim, index)": "at::select_symint(base, {dim}, {index})",
    "slice_backward_wrapper(grad, self_sym_sizes, dim, start, end, step)": (
        "at::slice_symint(base, {dim}, {start}, {end}, {step})"
    ),
    "diagonal_backward_symint(grad, self_sym_sizes, offset, dim1, dim2)": (
        "at::diagonal(base, {offset}, {dim1}, {dim2})"
    ),
}


def part_of(reverse: Reverse) -> str:
    """The C++ expression for the part of `base` that the view is of, with {attributes}; "" if it is not of a part."""
    return _PARTS.get(reverse.formulas[0][0].removeprefix("at::"), "") if len(reverse.formulas) == 1 else ""
