"""Autocast regions of a `.pt2` file: the casts that autocast adds to the arguments of calls.

The file has the calls as written, in a nested graph, with the dtypes that tensors had. Facts: the overloads that are
registered for AutocastCPU, AutocastCUDA and so on, by what they cast their arguments to, in the releases that write
such files; cross_entropy_loss in ATen/native/LossNLL.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pipeline.graphs.model import Bool, Float, Int
from pipeline.graphs.ops import Op
from pipeline.graphs.resolve.builder import GraphBuilder
from pipeline.graphs.resolve.operands import Known, Operand, of_dtype
from pipeline.graphs.tables import read_table
from pipeline.releases.model import Release
from pipeline.rules.native.dispatch import IMPLICIT

_FULL = "float32"
_ELIGIBLE = ("float32", "float16", "bfloat16")
_PRODUCTS = frozenset(read_table("products"))  # made of one of `lower`: they take several dtypes


class Autocast(Struct, frozen=True):
    """What autocast does to the calls of overloads on tensors of a device."""

    default: str  # the dtype of a region without one
    lower: frozenset[str]  # their arguments are cast to the dtype of the region
    full: frozenset[str]  # to float32
    widest: frozenset[str]  # to the widest dtype of the arguments
    computes: frozenset[str] = frozenset()  # they compute in float32 if their argument `dtype` is None


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CPU = Autocast(
    "bfloat16",
    lower=_names(
        """
        _addmm_activation _convolution.deprecated _native_multi_head_attention addbmm addmm baddbmm bmm conv1d
        conv1d.padding conv2d conv2d.padding conv3d conv3d.padding conv_tbc conv_transpose1d
        conv_transpose2d.input conv_transpose3d.input linalg_vecdot linear matmul mkldnn_rnn_layer mm prelu
        scaled_dot_product_attention
        """
    ),
    full=_names(
        """
        _grid_sampler_2d_cpu_fallback _lu_with_info adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d
        binary_cross_entropy binary_cross_entropy_with_logits cdist cholesky cholesky_inverse cholesky_solve
        cosine_embedding_loss cross_entropy_loss ctc_loss.IntList ctc_loss.Tensor
        fake_quantize_per_tensor_affine fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn
        fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn fractional_max_pool2d
        fractional_max_pool3d geqrf grid_sampler grid_sampler_2d grid_sampler_3d hinge_embedding_loss huber_loss
        inverse kl_div l1_loss linalg_cholesky linalg_cholesky_ex linalg_cond linalg_cond.p_str linalg_eig
        linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex
        linalg_lstsq linalg_matrix_rank linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor
        linalg_matrix_rank.tol_tensor linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv
        linalg_tensorsolve lu_solve margin_ranking_loss max_pool3d max_unpool2d max_unpool3d mse_loss
        multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward nanquantile nanquantile.scalar
        nll_loss nll_loss2d orgqr ormqr pinverse poisson_nll_loss polar prod prod.dim_int qr quantile
        quantile.scalar reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d
        smooth_l1_loss soft_margin_loss stft stft.center svd trace triangular_solve triplet_margin_loss
        view_as_complex
        """
    ),
    widest=_names("cat index_copy stack"),
)
_CUDA = Autocast(
    "float16",
    lower=_names(
        """
        _convolution _convolution.deprecated _scaled_dot_product_flash_attention _thnn_fused_gru_cell
        _thnn_fused_lstm_cell addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc
        conv_transpose1d conv_transpose2d.input conv_transpose3d.input convolution cudnn_convolution
        cudnn_convolution_transpose einsum gru_cell linalg_multi_dot linalg_vecdot linear lstm_cell matmul mm mv
        prelu rnn_relu_cell rnn_tanh_cell scaled_dot_product_attention
        """
    ),
    full=_names(
        """
        _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d
        _upsample_nearest_exact3d acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss
        cosine_similarity dist erfinv exp expm1 frobenius_norm.dim group_norm hinge_embedding_loss huber_loss
        kl_div l1_loss layer_norm log log10 log1p log2 logsumexp margin_ranking_loss mse_loss multi_margin_loss
        multilabel_margin_loss native_layer_norm nll_loss nll_loss2d norm.Scalar norm.ScalarOpt_dim nuclear_norm
        nuclear_norm.dim pdist poisson_nll_loss pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor reciprocal renorm
        rsqrt sinh smooth_l1_loss soft_margin_loss softplus tan triplet_margin_loss upsample_bicubic2d
        upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d
        upsample_trilinear3d
        """
    ),
    widest=_names(
        """
        addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot
        """
    ),
    computes=_names(
        """
        cumprod cumsum linalg_matrix_norm linalg_matrix_norm.str_ord linalg_vector_norm log_softmax.int prod
        prod.dim_int softmax.int sum sum.dim_IntList
        """
    ),
)
_FIRST = "cpu"  # whose tables have not changed
DEVICES = {
    _FIRST: _CPU,
    "cuda": _CUDA,
    "xpu": _CUDA,
    "mtia": _CUDA,
    "maia": replace(_CUDA, default="bfloat16"),
}


def cast_to(op: Op, device: str, dtypes: Sequence[str], result: str, lower: str, release: Release) -> str | None:
    """The dtype that autocast casts floating-point arguments of a call to; None for a call that it leaves alone.

    `device`: one of `DEVICES`, that of the region. `dtypes`: of its tensor arguments. `result`: of its first result.
    `lower`: the dtype of the region.
    """
    name, autocast = op.native.func.name, DEVICES[device]
    floating = {dtype for dtype in dtypes if dtype in _ELIGIBLE}
    if name.inplace or not floating:
        return None
    full = op.name.removeprefix("aten::")
    if full in autocast.lower:
        return lower
    if full in autocast.full or (device != _FIRST and full in release.autocast_full):
        return _FULL
    if full in autocast.widest:
        return _FULL if _FULL in floating else lower
    return None if full in autocast.computes else _inside(op, floating, result, lower)


def computes_in(op: Op, device: str, dtypes: Sequence[str]) -> str | None:
    """The dtype that autocast gives as the argument `dtype` of a call without one; None if it gives none.

    `dtypes`: of its tensor arguments, "" for an unknown one.
    """
    given = op.name.removeprefix("aten::") in DEVICES[device].computes and dtypes[:1] and dtypes[0] in _ELIGIBLE
    return _FULL if given else None


def _inside(op: Op, floating: set[str], result: str, lower: str) -> str | None:
    """The dtype for an operator that is made of others, some of which autocast knows: its result has it."""
    if IMPLICIT not in op.native.dispatch or any(a.name == "dtype" for a in op.native.func.arguments):
        return None
    if op.name.removeprefix("aten::") in _PRODUCTS:
        return lower if result == lower else None
    return result if len(floating) == 1 and result in {lower, _FULL} - floating else None


def is_cast(dtype: str, device: str, of: str, to: str) -> bool:
    """Whether autocast for the device `of` casts a tensor of a dtype, on a device."""
    return device.partition(":")[0] == of and dtype in _ELIGIBLE and dtype != to


# ---- the cross entropy, in a region of a device that leaves it to the operators that it is made of

CROSS_ENTROPY = "aten::cross_entropy_loss"
_PARTS = ("target", "weight", "reduction", "ignore_index")


def add_cross_entropy(
    builder: GraphBuilder, arguments: Mapping[str, Operand], sizes: tuple[int, ...], dtype: str, target: str, hint: str
) -> Operand | None:
    """Adds the calls; the loss. `sizes` and `dtype` are those of the argument, `target` is the dtype of the classes.

    It asks for a softmax in the dtype of its argument, which autocast leaves; the loss of that is computed in float32.
    None if it has probabilities in place of classes, smooths them, or is of another dtype than autocast casts up.
    """
    smoothing = arguments.get("label_smoothing")
    smooths = isinstance(smoothing, Known) and smoothing.value not in (Float(0.0), Int(0), Bool(False))
    if smooths or target != "int64" or dtype not in ("float16", "bfloat16"):
        return None
    dim = Known(Int(1 if len(sizes) > 1 else 0), "int")
    softmax = builder.call("aten::log_softmax", [arguments["self"], dim], overload="int", hint=f"{hint}_log_softmax")
    builder.set_facts([(sizes, dtype)])
    cast = builder.call("aten::to", [softmax, of_dtype(_FULL)], overload="dtype", hint=f"{hint}_log_softmax_cast")
    builder.set_facts([(sizes, _FULL)])
    given = {name: arguments[name] for name in _PARTS if name in arguments}
    return builder.call("aten::nll_loss_nd", [cast], given, hint=hint)
