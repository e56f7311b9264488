"""What is known not to be as it should be, with the reason: of the CPU, and of the toy device."""

from __future__ import annotations

from typing import NamedTuple

from in_torch.toy import LAYOUTS


class Known(NamedTuple):
    """Where our kernels cannot be asked, or may answer otherwise."""

    not_run: dict[str, str]  # kernels, or how their names end after `_`
    different: dict[tuple[str, str], str]  # an operator, and what was asked
    cut: dict[str, str]  # what is in messages that say nothing of our kernels


_WITHOUT_MEMORY = "torch's formula writes into zeros without memory"
_MSE = "case MseLossBackwardBackward0"

CPU = Known(
    not_run={
        **dict.fromkeys(
            ("linear", "linalg_multi_dot", "linalg_multi_dot_out_out", "upsample_nearest1d_vec"),
            "in torch the operator is a composite, which goes before",
        ),
        **dict.fromkeys(("_resize_output_", "_resize_output_out_out"), "the operator is not for tensors of the CPU"),
        "AutogradCUDA": "there is no such device",
    },
    different={(_MSE, "forward gradcheck"): _WITHOUT_MEMORY},
    cut={},
)
_UNWRITTEN = ("empty", "empty_like", "empty_permuted", "new_empty", "new_empty_strided")
_MULTI_DOT, _LINEAR = "LinalgMultiDotBackward0", "LinearBackward0"
_OWN_KERNEL = "ours is what runs here, and not the composite; the core set has no more derivatives of it"
_PRINTED = "the message shows tensors, and on which device they are"
_OVERLAP = "of places in memory that are written to twice, a fallback to the CPU does not know"
_CHECKS = ("gradcheck", "gradgradcheck", "forward gradcheck")
_IN_PLACE = tuple(f"in place, {what}" for what in ("gradients", "leaf", "second gradients", "tangents", "value"))
_TOY: dict[str, dict[str, tuple[str, ...]]] = {  # what differs, by reason
    "nobody wrote to this memory": {f"torch {name}": ("value",) for name in _UNWRITTEN},
    "torch has it for some devices": {"torch mode": ("out",)},
    _WITHOUT_MEMORY: {_MSE: ("forward gradcheck",)},
    _PRINTED: {
        "torch _batch_norm_with_update": ("out", "out with gradients"),
        "case PolygammaBackward1": (
            *("gradients", "out", "out with gradients", "second gradients", "tangents", "value", "view"),
            *_CHECKS,
        ),
    },
    _OWN_KERNEL: {
        "torch nn.functional.linear": ("view",),
        "torch linalg.multi_dot": ("out with gradients", "view"),
        f"case {_LINEAR}": ("view",),
        f"case {_MULTI_DOT}": ("gradients", "out with gradients", "second gradients", "view", *_CHECKS),
    },
    _OVERLAP: {"case AsStridedBackward0": ("view",), "case UnfoldBackward0": ("view",), "torch unfold": ("view",)},
    "a fallback to the CPU gives self and out memory of their own, and out may grow": dict.fromkeys(
        ("torch addr", "torch ldexp", "torch logical_and", "torch logical_or", "torch logical_xor"), _IN_PLACE
    ),
    "writes are counted otherwise where a result is put into memory of another size": {
        "torch linalg.matrix_rank": ("view",),
        "torch linalg.matrix_rank.hermitian": ("view",),
        "call _foreach_norm.Scalar_out": ("view",),
    },
}
TOY = Known(
    not_run={
        **dict.fromkeys(("AutogradCUDA", "AutogradNestedTensor"), "not for the toy device"),
        **dict.fromkeys(("q_scale", "qscheme"), "the toy has no quantized tensors"),
        **dict.fromkeys(("_to_sparse_out_out", "_to_sparse_out_sparse_dim_out"), "the toy has no sparse tensors"),
        **dict.fromkeys(
            ("set__source_Storage", "set_out_source_Storage_out"), "the toy cannot change a tensor's storage"
        ),
        **dict.fromkeys(("_resize_output_", "_resize_output_out_out"), "the CPU, which computes, has no such operator"),
    },
    different={(name, what): why for why, found in _TOY.items() for name, asked in found.items() for what in asked},
    cut={
        LAYOUTS: LAYOUTS,
        "Sparsetoy": "sparse tensors",
        "tensor_indices_or_sections to be on cpu": "arguments that belong to the CPU",
        "memory formats are not for toys": "memory formats",
    },
)
