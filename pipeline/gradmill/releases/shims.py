"""AOTInductor's C functions of operators, by release."""

from __future__ import annotations

from gradmill.releases.model import Change

OLDEST: dict[str, object] = {
    "shim_devices": ("cpu", "cuda"),
    "shims_by_key": True,
    "shim_versions": "",
    "shims_pass_defaults": False,
    "shims_extend": False,
    "shims_with_optional_returns": (
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_efficient_attention",
        "convolution_backward",
    ),
}

CHANGES: tuple[Change, ...] = (
    Change("2.5", "shims_with_optional_returns", "attention by cuDNN", add=("_scaled_dot_product_cudnn_attention",)),
    Change("2.6", "shim_devices", "the Intel GPU backend moved in-tree", add=("xpu",)),
    Change(
        "2.7",
        "shims_with_optional_returns",
        "attention that backends override",
        add=("_scaled_dot_product_fused_attention_overrideable",),
    ),
    Change("2.8", "shim_devices", "models for MPS", add=("mps",)),
    Change("2.8", "shims_by_key", "they are written apart from the registrations of kernels", set=False),
    Change("2.8", "shim_versions", "operators may gain arguments", set="arguments"),
    Change("2.9", "shim_devices", "stable C++ code calls some operators by the dispatcher", add=("aten",)),
    Change(
        "2.9",
        "shims_with_optional_returns",
        "more operators compute only what is asked for",
        add=(
            "_functional_sym_constrain_range",
            "_scaled_dot_product_efficient_attention_backward",
            "_thhn_fused_lstm_cell_backward_impl",
            "grid_sampler_2d_backward",
            "grid_sampler_3d_backward",
            "linear_backward",
        ),
    ),
    Change("2.12", "shims_pass_defaults", "arguments that are not optional may be added", set=True),
    Change("2.13", "shim_versions", "versions have the release that has them first", set="metadata"),
)
