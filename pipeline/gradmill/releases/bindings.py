"""Which functions have no generated Python binding, by release."""

from __future__ import annotations

from gradmill.releases.model import Change

_ALPHA = ", Scalar alpha=1"

OLDEST: dict[str, object] = {
    # Patterns of C++ names. These functions have handwritten bindings, or Python does not see them.
    "skip_python_bindings": tuple(
        r"""
        alias contiguous is_cuda is_sparse is_sparse_csr size stride sym_size sym_stride sym_storage_offset sym_numel
        .*_backward .*_backward_(out|input|weight|bias) .*_forward .*_forward_out .*_jvp _unsafe_view tensor
        _?sparse_(coo|compressed|csr|csc|bsr|bsc)_tensor.* _range.* _sparse_add_out _sparse_div.* _sparse_mul.*
        _sparse_sub.* _sparse_dense_add_out index index_out unique_dim_consecutive _cumsum.* _cumprod.* _sum.* _prod.*
        _th_.* _thnn_.* range.* _solve.* _inverse.* _cholesky.* _triangular_solve.* _qr.* _svd.* slice item
        _local_scalar_dense to _to_copy _to_copy_out _reshape_copy _reshape_copy_out copy_sparse_to_sparse_ copy_
        _foreach_copy numpy_T matrix_H mT mH nonzero(_(out|numpy))? set_data .*_overrideable data is_leaf output_nr
        _version requires_grad_ retains_grad set_ _fw_primal fake_quantize_per_tensor_affine_cachemask
        fake_quantize_per_channel_affine_cachemask _new_zeros_with_same_feature_meta _has_same_storage_numel
        _reshape_alias replace_ copy fill.Tensor fill.Scalar lift.* normal_functional nbytes itemsize
        _batch_norm_with_update _batch_norm_with_update_out _batch_norm_no_update
        """.split()
    ),
    # Python parses a number as a tensor here: the overload for tensors takes it.
    "unbound_schemas": tuple(
        f"{name}{inplace}.Scalar(Tensor{written} self, Scalar other{alpha}) -> Tensor{written}"
        for name, alpha in (("add", _ALPHA), ("sub", _ALPHA), ("mul", ""), ("div", ""))
        for inplace, written in (("", ""), ("_", "(a!)"))
    ),
}

CHANGES: tuple[Change, ...] = (
    Change("2.9", "skip_python_bindings", "its binding is written by hand", add=("sym_is_contiguous",)),
    Change(
        "2.12",
        "skip_python_bindings",
        "their bindings are written by hand, which is faster",
        add=("dim", "get_device", "is_contiguous", "numel", "storage_offset"),
    ),
)
