"""What is known not to be as it should be, with the reason: of the CPU, and of the toy device."""

from __future__ import annotations

from typing import NamedTuple

from in_torch.stand_ins import NOT_EXPORTED
from in_torch.toy import LAYOUTS


class Known(NamedTuple):
    """Where our kernels cannot be asked, or may answer otherwise."""

    not_run: dict[str, str]  # kernels, or how their names end after `_`
    different: dict[tuple[str, str], str]  # an operator, and what was asked
    cut: dict[str, str]  # what is in messages that say nothing of our kernels


_NOT_EXPORTED = {NOT_EXPORTED: "what libtorch does not export"}

CPU = Known(
    not_run={
        **dict.fromkeys(
            ("linear", "linalg_multi_dot", "linalg_multi_dot_out_out", "upsample_nearest1d_vec"),
            "in torch the operator is a composite, which goes before",
        ),
        **dict.fromkeys(("_resize_output_", "_resize_output_out_out"), "the operator is not for tensors of the CPU"),
        "AutogradCUDA": "there is no such device",
    },
    different={
        ("case MseLossBackwardBackward0", "forward gradcheck"): "torch's formula writes into zeros without memory",
    },
    cut=_NOT_EXPORTED,
)
_UNWRITTEN = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_as_")
TOY = Known(
    not_run={
        **dict.fromkeys(("AutogradCUDA", "AutogradNestedTensor"), "not for the toy device"),
        **dict.fromkeys(("q_scale", "qscheme"), "the toy has no quantized tensors"),
        **dict.fromkeys(("_to_sparse", "_to_sparse_out_out"), "the toy has no sparse tensors"),
        **dict.fromkeys(("_resize_output_", "_resize_output_out_out"), "the CPU, which computes, has no such operator"),
    },
    different={
        **{(f"torch {name}", "value"): "nobody wrote to this memory" for name in _UNWRITTEN},
        **dict.fromkeys(
            (("torch mode", what) for what in ("out", "out with gradients")), "torch has it for some devices"
        ),
    },
    cut=_NOT_EXPORTED
    | {
        LAYOUTS: LAYOUTS,
        "memory formats are not for toys": "memory formats",
        "SparsePrivateUse1": "sparse tensors",
        "QuantizedPrivateUse1": "quantized tensors",
        "NestedTensorPrivateUse1": "nested tensors",
    },
)
