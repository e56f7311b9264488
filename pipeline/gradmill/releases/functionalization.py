"""What functionalization treats in its own way, of each release: lists in torchgen's gen_functionalization_type.py."""

from __future__ import annotations

from gradmill.releases.model import Change

OLDEST: dict[str, object] = {
    "not_functionalized": ("record_stream", "resize_", "resize_as_", "_fill_mem_eff_dropout_mask_"),
    "keeping_out_dtype": (),
    "registers_composed_views": False,
}

CHANGES: tuple[Change, ...] = (
    Change("2.10", "registers_composed_views", "composed views decompose before they are functionalized", set=True),
    Change(
        "2.12",
        "not_functionalized",
        "kernels of inference that custom ops call",
        add=("_flash_attention_forward_no_dropout_inplace",),
    ),
    Change(
        "2.12",
        "keeping_out_dtype",
        "without a dtype they compute in that of `out`, as eager ones do",
        add=("cumsum.out", "cumprod.out", "cumsum.dimname_out", "cumprod.dimname_out"),
    ),
    Change(
        "2.13", "keeping_out_dtype", "named tensors were removed", remove=("cumsum.dimname_out", "cumprod.dimname_out")
    ),
    Change(
        "2.15",
        "not_functionalized",
        "kernels of inference that custom ops call",
        add=("_cudnn_attention_forward_no_dropout_inplace",),
    ),
)
