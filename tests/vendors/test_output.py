"""What descriptions say of output where it is easily got wrong: empty texts, families that nobody names, lists."""

from __future__ import annotations

import pytest

from vendors.vendor import Vendor, kernel


def test_a_text_that_is_empty_for_a_function_is_not_replaced(vendor: Vendor) -> None:
    edit = '    { from = "at::redispatch", to = "accel::redispatch", of = "own" },\n'
    vendor.replace("specset.toml", edit, edit + '    { from = "${overload}", to = "X" },\n')
    actual = vendor.build()["VariableType_0.cpp"]
    assert "accel::redispatch::swish(ks" in kernel(actual, "swish")
    assert kernel(actual, "swish_X_X")


@pytest.mark.extension("graphs")
def test_graphs_are_made_also_where_the_description_names_other_families(vendor: Vendor) -> None:
    vendor.path("specset.toml").write_text('[base]\nspecs = "core"\n[family.nodes]\n')
    (vendor.folder / "model.py").write_text(
        "from torch import Tensor\n\n\ndef f(x: Tensor) -> Tensor:\n    return x.exp()\n"
    )
    build = vendor.build(graphs="model.py")
    assert {"Functions.h", "graphs/model.cpp"} <= {*build}
    assert not any(name.startswith("VariableType") for name in build)


def test_a_result_that_is_a_list_of_tensors_is_saved_as_an_output(vendor: Vendor) -> None:
    """PyTorch's generator refuses it."""
    vendor.append("accel/functions.yaml", "\nmore:\n  - func: parts(Tensor self) -> Tensor[]\n")
    vendor.replace("specset.toml", 'list = "custom", drop', 'list = ["custom", "more"], drop')
    definition = "\n- name: parts(Tensor self) -> Tensor[]\n  self: gather(grads, result)\n  version: v2.13\n"
    vendor.append("plugin/config/derivatives.yaml", definition)
    files = vendor.build()
    assert "grad_fn->result_ = make_saved_variable_list(result, true);" in kernel(files["VariableType_0.cpp"], "parts")
    assert "auto result = unpack_list(result_, getptr());" in files["Functions.cpp"].partition("PartsBackward0")[2]
