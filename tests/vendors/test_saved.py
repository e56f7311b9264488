"""What a described set saves that PyTorch's generator refuses: values of calls, results that are lists of tensors, and
hidden outputs that a kernel written by hand stores."""

from __future__ import annotations

from vendors.vendor import Vendor, kernel

TOML, OWN, DERIVATIVES = "specset.toml", "accel/functions.yaml", "plugin/config/derivatives.yaml"
VIEWS = 'add.views = { head = "self" }'
SWISH = "swish_gradient(grad, self)"


def test_the_value_of_a_call_is_saved_in_place_of_the_tensor(vendor: Vendor) -> None:
    vendor.replace(TOML, VIEWS, f'{VIEWS}\nadd.saved_calls = {{ "sizes()" = "int[]", "size(0)" = "int" }}')
    vendor.replace(DERIVATIVES, SWISH, "swish_gradient(grad, self.sizes(), self.size(0))")
    files = vendor.build()
    text = kernel(files["VariableType_0.cpp"], "swish")
    assert "grad_fn->self_sizes = self.sizes().vec();" in text and "grad_fn->self_size_0 = self.size(0);" in text
    assert "SavedVariable(" not in text
    node = files["Functions.h"].partition("struct TORCH_API SwishBackward0")[2].partition("};")[0]
    assert "std::vector<int64_t> self_sizes;" in node and "int64_t self_size_0 = 0;" in node
    assert "swish_gradient(grad, self_sizes, self_size_0)" in files["Functions.cpp"]


def test_a_result_that_is_a_list_of_tensors_is_saved_as_an_output(vendor: Vendor) -> None:
    vendor.append(OWN, "\nmore:\n  - func: parts(Tensor self) -> Tensor[]\n")
    vendor.replace(TOML, 'list = "custom", drop', 'list = ["custom", "more"], drop')
    vendor.append(
        DERIVATIVES, "\n- name: parts(Tensor self) -> Tensor[]\n  self: gather(grads, result)\n  version: v2.13\n"
    )
    files = vendor.build()
    assert "grad_fn->result_ = make_saved_variable_list(result, true);" in kernel(files["VariableType_0.cpp"], "parts")
    assert "auto result = unpack_list(result_, getptr());" in files["Functions.cpp"].partition("PartsBackward0")[2]


MASK = 'add.hidden_outputs = { scaled = "Tensor mask" }'


def test_an_autograd_kernel_written_by_hand_stores_hidden_outputs_in_the_node(vendor: Vendor) -> None:
    vendor.replace(TOML, 'exclude = ["noise"]', 'exclude = ["noise", "scaled"]')
    vendor.replace(TOML, VIEWS, f"{VIEWS}\n{MASK}")
    vendor.replace(DERIVATIVES, '"twice ? grad * by * 2 : grad * by"', "grad * mask")
    vendor.run().clean()
    files = vendor.files()
    assert not kernel(files["VariableType_0.cpp"], "scaled")
    assert "SavedVariable mask_;" in files["Functions.h"].partition("ScaledBackward0")[2].partition("};")[0]


def test_a_backends_kernel_stores_hidden_outputs_in_the_node(vendor: Vendor) -> None:
    """The autograd kernel makes the usual call, and the description says how the backend's reaches the Node."""
    vendor.replace(TOML, VIEWS, f'{VIEWS}\n{MASK}\nadd.hidden_kernels = {{ scaled = "" }}')
    vendor.replace(DERIVATIVES, '"twice ? grad * by * 2 : grad * by"', "grad * mask * by")
    guard = "at::AutoDispatchBelowADInplaceOrView guard;"
    vendor.replace(
        TOML,
        "\nreplace = [\n",
        f'\nreplace = [\n    {{ from = "{guard}", to = "{guard} Holder holder(grad_fn);", of = ["scaled"] }},\n',
    )
    vendor.run().clean()
    text = kernel(vendor.files()["VariableType_0.cpp"], "scaled")
    assert "auto result = std::move(_tmp);" in text and "Holder holder(grad_fn);" in text
    assert "grad_fn->by = by;" in text and "mask" not in text
    assert "auto mask = mask_.unpack();" in vendor.files()["Functions.cpp"].partition("ScaledBackward0")[2]
