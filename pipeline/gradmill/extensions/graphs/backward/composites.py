"""Gradients of views that cost less than by the formula of the operator.

A view of a part of a tensor has a gradient that is zero elsewhere: if the tensor has another gradient already, the
view's can be added to that part of it, one pass over the part in place of zeros of the whole size and a sum of that
size.
"""

from __future__ import annotations

from gradmill.model.autograd import Reverse

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
