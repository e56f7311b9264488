"""Views, and functions with handwritten kernels, by release."""

from __future__ import annotations

from gradmill.releases.model import Change

_VIEWS = """
    numpy_T alias as_strided diagonal expand permute select slice slice_inverse split split_with_sizes squeeze t
    transpose unfold unsqueeze flatten view unbind _indices _values indices values crow_indices col_indices ccol_indices
    row_indices _reshape_alias _test_autograd_multiple_dispatch_view
""".split()

_METADATA_VIEWS = """
    view_as_complex view_as_real _conj _neg_view _nested_get_values _nested_view_from_buffer _nested_view_from_jagged
""".split()

# Composed of views, or views for some inputs only: they return a view of `self`.
_MADE_OF_VIEWS = """
    chunk detach contiguous reshape reshape_as expand_as view_as real imag narrow movedim tensor_split swapdims swapaxes
    mT mH adjoint matrix_H
""".split()

# Functions with kernels in VariableTypeManual.cpp and TraceTypeManual.cpp.
_MANUAL = """
    options data set_data is_leaf output_nr _version retain_grad _backward requires_grad_ resize_ resize_as_ detach
    detach_ copy_ _fw_primal _make_dual
""".split()

OLDEST: dict[str, object] = {
    # A sparse tensor is a view of its indices and its values; only the values have gradients.
    "views": {**dict.fromkeys(_VIEWS + _METADATA_VIEWS, "self"), "sparse_coo_tensor_with_dims_and_tensors": "values"},
    "aliases_not_views": ("_unsafe_view",),
    "metadata_views": tuple(_METADATA_VIEWS),
    "copied_in_views": (),
    "made_of_views": tuple(_MADE_OF_VIEWS),
    "manual_kernels": tuple(_MANUAL),
}

CHANGES: tuple[Change, ...] = (
    Change(
        "2.14",
        "copied_in_views",
        "a member that is a reference outlived its argument",
        add=("Tensor", "Tensor?", "Scalar", "Scalar?"),
    ),
)
