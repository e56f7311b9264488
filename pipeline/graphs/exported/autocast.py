"""Autocast regions of a `.pt2` file: the casts that autocast adds to the arguments of calls.

The file has the calls as written, in a nested graph, with the dtypes that tensors had. Facts: the operators that are
registered for AutocastCPU, by what they cast their arguments to.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.graphs.ops import Op
from pipeline.rules.native.dispatch import IMPLICIT

DEVICES = ("cpu",)  # whose operators the tables have
DEFAULT = "bfloat16"  # of a region without a dtype, on the CPU
_FULL = "float32"
_ELIGIBLE = ("float32", "float16", "bfloat16")

_LOWER = frozenset(
    """
    _addmm_activation _convolution _native_multi_head_attention addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc
    conv_transpose1d conv_transpose2d conv_transpose3d linalg_vecdot linear matmul mkldnn_rnn_layer mm prelu
    scaled_dot_product_attention
    """.split()
)
_PRODUCTS = frozenset("bilinear chain_matmul einsum inner linalg_multi_dot tensordot".split())  # by one of _LOWER
_WIDEST = frozenset("cat index_copy stack".split())
_TO_FULL = frozenset(
    """
    _grid_sampler_2d_cpu_fallback _lu_with_info adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy
    binary_cross_entropy_with_logits cdist cholesky cholesky_inverse cholesky_solve cosine_embedding_loss
    cross_entropy_loss ctc_loss fake_quantize_per_tensor_affine fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2
    fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn fractional_max_pool2d
    fractional_max_pool3d geqrf grid_sampler grid_sampler_2d grid_sampler_3d hinge_embedding_loss huber_loss inverse
    kl_div l1_loss linalg_cholesky linalg_cholesky_ex linalg_cond linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
    linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank linalg_qr linalg_solve
    linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve lu_solve margin_ranking_loss max_pool3d max_unpool2d
    max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward nanquantile nll_loss
    nll_loss2d orgqr ormqr pinverse poisson_nll_loss polar prod qr quantile reflection_pad1d reflection_pad2d
    replication_pad1d replication_pad2d replication_pad3d smooth_l1_loss soft_margin_loss stft svd trace
    triangular_solve triplet_margin_loss view_as_complex
    """.split()
)


def cast_to(op: Op, dtypes: Sequence[str], result: str, lower: str) -> str | None:
    """The dtype that autocast casts floating-point arguments of a call to; None for a call that it leaves alone.

    `dtypes`: of its tensor arguments. `result`: of its first result. `lower`: the dtype of the region.
    """
    name = op.native.func.name
    floating = {dtype for dtype in dtypes if dtype in _ELIGIBLE}
    if name.inplace or not floating:
        return None
    if name.base in _LOWER:
        return lower
    if name.base in _TO_FULL:
        return _FULL
    if name.base in _WIDEST:
        return _FULL if _FULL in floating else lower
    return _inside(op, floating, result, lower)


def _inside(op: Op, floating: set[str], result: str, lower: str) -> str | None:
    """The dtype for an operator that is made of others, some of which autocast knows: its result has it."""
    if IMPLICIT not in op.native.dispatch or any(a.name == "dtype" for a in op.native.func.arguments):
        return None
    if op.native.func.name.base in _PRODUCTS:
        return lower if result == lower else None
    return result if len(floating) == 1 and result in {lower, _FULL} - floating else None


def is_cast(dtype: str, device: str, to: str) -> bool:
    """Whether autocast casts a tensor of a dtype, on a device."""
    return device.partition(":")[0] in DEVICES and dtype in _ELIGIBLE and dtype != to
