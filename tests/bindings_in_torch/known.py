"""What cannot be called next to torch, or differs, and why."""

from __future__ import annotations

# What `hidden.cpp` does with each name that libtorch_python does not export.
THROWS = "throws"
_MODULE = "module.cpp makes the object whose attributes the functions are"
_PYTHON = "asks torch._C._has_torch_function_unary"
_ONE_OF = "calls handle_torch_function_no_python_arg_parser, which is exported"
_SAME = "does the same"
_CPU = "does the same for dense tensors of the CPU, throws for others"
HIDDEN: dict[str, str] = {
    "THPSize_NewFromSymSizes": _SAME,
    "torch::autograd::THPVariableFunctionsModule": _MODULE,
    "torch::autograd::get_nested_functions_manual": THROWS,
    "torch::check_has_torch_function": _PYTHON,
    "torch::consume_should_skip_torch_function": _PYTHON,
    "torch::handle_torch_function": _ONE_OF,
    "torch::utils::apply_": THROWS,
    "torch::utils::getTHPQScheme": _SAME,
    "torch::utils::legacy_tensor_new": THROWS,
    "torch::utils::map2_": THROWS,
    "torch::utils::map_": THROWS,
    "torch::utils::new_tensor": THROWS,
    "torch::utils::options_from_string": _CPU,
    "torch::utils::options_to_string": _CPU,
    "torch::utils::returned_structseq_repr": _SAME,
    "torch::utils::tensor_to_list": _CPU,
}
# What messages begin with that say nothing of our bindings.
NOT_EXPORTED = "not exported by libtorch_python: "

_OUTSIDE = "torch's kernel leaves the tensor's memory for arguments that do not suit it"
NOT_CALLED: dict[str, str] = dict.fromkeys(
    (
        "torch._compute_linear_combination",
        "torch._convert_indices_from_csr_to_coo",
        "torch._nnpack_spatial_convolution",
        "torch._reshape_alias_copy",
        "torch._sobol_engine_initialize_state_",
    ),
    _OUTSIDE,
)
_ADDRESS = "the result is an address"
DIFFERENT: dict[str, str] = {
    "Tensor.const_data_ptr": _ADDRESS,
    "Tensor.data_ptr": _ADDRESS,
    "torch.fbgemm_pack_gemm_matrix_fp16": _ADDRESS,
    "Tensor.set_": "the storage grows, and what is new in it was never written",
}
