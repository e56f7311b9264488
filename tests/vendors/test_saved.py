"""A described set saves results that are lists of tensors, which PyTorch's generator refuses."""

from __future__ import annotations

from vendors.vendor import Vendor, kernel

TOML, OWN, DERIVATIVES = "specset.toml", "accel/functions.yaml", "plugin/config/derivatives.yaml"


def test_a_result_that_is_a_list_of_tensors_is_saved_as_an_output(vendor: Vendor) -> None:
    vendor.append(OWN, "\nmore:\n  - func: parts(Tensor self) -> Tensor[]\n")
    vendor.replace(TOML, 'list = "custom", drop', 'list = ["custom", "more"], drop')
    vendor.append(
        DERIVATIVES, "\n- name: parts(Tensor self) -> Tensor[]\n  self: gather(grads, result)\n  version: v2.13\n"
    )
    files = vendor.build()
    assert "grad_fn->result_ = make_saved_variable_list(result, true);" in kernel(files["VariableType_0.cpp"], "parts")
    assert "auto result = unpack_list(result_, getptr());" in files["Functions.cpp"].partition("PartsBackward0")[2]
