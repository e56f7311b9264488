"""Facts of a release for the kernels of VariableType: the oldest release's lists, then the changes.

The lists also have names without an operator: another spec set may have it.

torchgen: `gen_variable_type.gen_variable_type`, `gen_trace_type.should_trace`,
`gen_inplace_or_view_type.get_view_info`.
"""

from __future__ import annotations

from gradmill.releases.model import Change

_SHARING_TENSORS = tuple(
    """
    _cudnn_rnn _cudnn_rnn_backward _embedding_bag _embedding_bag_forward_only _nested_tensor_size
    _nested_tensor_storage_offsets _nested_tensor_strides dequantize_self lift lift_fresh lift_fresh_copy
    lu_unpack q_per_channel_scales q_per_channel_zero_points
    """.split()
)

OLDEST: dict[str, object] = {
    "vmap_other_returns": (),
    "qualifies_declarations": False,
    "manual_backend": tuple(
        """
        _backward _version data is_leaf options output_nr requires_grad_ retain_grad set_data
        """.split()
    ),
    "dont_require_derivative": tuple(
        """
        __and__ __iand__ __ilshift__ __ior__ __irshift__ __ixor__ __lshift__ __or__ __rshift__ __xor__
        _coalesced_ _nested_tensor_size _nested_tensor_storage_offsets _nested_tensor_strides _sobol_engine_draw
        _sobol_engine_ff _sobol_engine_initialize_state_ _sobol_engine_scramble_ allclose argmax argmin argsort
        bucketize empty_like full_like isin isinf isnan isneginf isposinf logical_and logical_not logical_or
        logical_xor new_empty new_empty_strided new_full new_ones new_zeros ones_like quantize_per_channel
        quantize_per_tensor rand_like randn_like record_stream searchsorted signbit zeros_like
        """.split()
    ),
    "complex_differentiable": tuple(
        """
        __radd__ __rmul__ _coalesce _conj _conj_physical _fft_c2c _fft_r2c _linalg_det _linalg_eigh
        _linalg_slogdet _linalg_solve_ex _linalg_svd _neg_view _reshape_alias _reshape_copy _sparse_addmm
        _sparse_coo_tensor_with_dims_and_tensors _sparse_sparse_matmul _to_copy _to_dense _unsafe_view acos
        acosh add addbmm addcdiv addcmul addmm addmv addr alias as_strided as_strided_scatter asin asinh atan
        atanh baddbmm block_diag bmm cat cholesky cholesky_inverse cholesky_solve chunk clone coalesce col2im
        complex conj_physical_ constant_pad_nd cos cosh cumprod cumsum cumulative_trapezoid diag diag_embed
        diagonal diagonal_backward diagonal_copy diagonal_scatter div dot eig eq_ exp exp2 expand expm1 fill
        fill_ flip fliplr flipud gather im2col index index_add index_add_ index_copy index_fill index_put
        index_select inverse lerp linalg_cholesky linalg_cholesky_ex linalg_cross linalg_eig
        linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_lu linalg_lu_factor_ex
        linalg_lu_solve linalg_matrix_exp linalg_pinv linalg_qr linalg_solve linalg_solve_triangular
        linalg_vector_norm log log10 log1p log2 logaddexp logcumsumexp lu lu_solve lu_unpack masked_fill
        masked_scatter masked_scatter_backward masked_select matrix_exp mean mm mul mv nanmean nansum ne_ neg
        nonzero ormqr outer permute pixel_shuffle pixel_unshuffle polar pow prod put put_ reciprocal
        reflection_pad1d reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward reflection_pad3d
        reflection_pad3d_backward renorm repeat replication_pad1d replication_pad1d_backward replication_pad2d
        replication_pad2d_backward replication_pad3d replication_pad3d_backward reshape reshape_as resize
        resize_as roll rot90 rsqrt rsub scatter scatter_add select select_backward sgn sigmoid sigmoid_backward
        sin sinc sinh slice slice_backward solve sparse_mask sparse_sampled_addmm split split_with_sizes
        split_with_sizes_backward sqrt squeeze stack std_mean sub sum t take tan tanh tanh_backward to_sparse
        trace transpose trapezoid triangular_solve tril triu unbind unfold unfold_backward unfold_copy
        unsafe_split unsqueeze values var_mean vdot view view_as view_as_complex where zero_
        """.split()
    ),
    "resets_accumulator": (
        "resize_",
        "set_",
    ),
    "dont_enforce_same_tensor_impl_or_storage": (
        "_cudnn_rnn_flatten_weight",
        "set_",
    ),
    "dont_enforce_tensor_impl_use_count": _SHARING_TENSORS,
    "dont_enforce_storage_impl_use_count": (
        "_slow_conv2d_forward",
        "slow_conv3d_forward",
        "channel_shuffle",
        *_SHARING_TENSORS,
    ),
    "foreach_without_derivatives": tuple(
        """
        _foreach_addcdiv.Tensor _foreach_addcmul.Tensor _foreach_copy _foreach_maximum.Scalar
        _foreach_maximum.ScalarList _foreach_minimum.Scalar _foreach_minimum.ScalarList
        """.split()
    ),
    "foreach_of_other_arity": (
        "_foreach_add.Scalar",
        "_foreach_add.ScalarList",
        "_foreach_sub.Scalar",
        "_foreach_sub.ScalarList",
    ),
    "variable_type_shards": 5,
    "left_out": (),
    "described": False,
    "generator": "torchgen/gen.py",
    "stubs_generator": "torchgen/gen.py",
}

_COMPLEX = "their gradients of complex tensors are right, and tested"

CHANGES: tuple[Change, ...] = (
    Change(
        "2.5",
        "complex_differentiable",
        _COMPLEX,
        add=tuple(
            """
            alias_copy as_strided_copy channel_shuffle expand_copy logsumexp t_copy unsqueeze_copy view_copy
            _unsafe_index _unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate
            """.split()
        ),
    ),
    Change(
        "2.5",
        "dont_enforce_same_tensor_impl_or_storage",
        "their checks failed",
        add=("_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"),
    ),
    Change(
        "2.5",
        "generator",
        "the intermediate template names the script that a build runs",
        set="tools/setup_helpers/generate_code.py",
    ),
    Change("2.5", "stubs_generator", "comments name the script that runs", set="torchgen/gen_backend_stubs.py"),
    Change(
        "2.5",
        "vmap_other_returns",
        "attention returns sizes next to tensors",
        add=("_scaled_dot_product_flash_attention", "_scaled_dot_product_cudnn_attention"),
    ),
    Change("2.6", "complex_differentiable", _COMPLEX, add=("permute_copy", "squeeze_copy", "transpose_copy")),
    Change("2.7", "qualifies_declarations", "one way to print types", set=True),
    Change("2.7", "complex_differentiable", _COMPLEX, add=("unbind_copy",)),
    Change("2.11", "complex_differentiable", _COMPLEX, add=("ldexp",)),
    Change("2.11", "vmap_other_returns", "another overload", add=("_scaled_dot_product_flash_attention_quantized",)),
    Change("2.12", "complex_differentiable", _COMPLEX, add=("linear", "narrow_copy")),
    Change("2.13", "variable_type_shards", "compile time of the largest files", set=10),
    Change("2.14", "complex_differentiable", _COMPLEX, add=("linalg_matrix_sqrth", "linalg_polar")),
    Change("2.14", "complex_differentiable", "the operator was removed", remove=("cholesky",)),
    Change("2.15", "complex_differentiable", _COMPLEX, add=("nan_to_num",)),
)
