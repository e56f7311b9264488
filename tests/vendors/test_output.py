"""What descriptions say of output where it is easily got wrong: texts that are empty, files that are made of others."""

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


def test_an_error_next_to_an_empty_file_has_its_place(vendor: Vendor) -> None:
    vendor.path("empty.yaml").write_text("")
    layer = '[[layer]]\nname = "empty"\nderivatives = "empty.yaml"\n\n[functions]\n'
    vendor.replace("specset.toml", "[functions]\n", layer)
    vendor.replace("plugin/config/derivatives.yaml", "clipped(Tensor self, float limit)", "clipped(Tensor self)")
    run = vendor.run()
    assert run.status != 0 and "Traceback" not in run.stderr, run.stderr
    assert "set/empty.yaml:1:1: error: the file is empty" in run.stderr
    assert "set/plugin/config/derivatives.yaml:25:9: error: clipped" in run.stderr


def test_a_wrong_formula_is_the_only_error_of_a_set_that_takes_what_is_defined(vendor: Vendor) -> None:
    vendor.path("own.yaml").write_text("- func: own(Tensor self) -> Tensor\n  dispatch: {CPU: own}\n")
    vendor.path("formulas.yaml").write_text(
        "- name: own(Tensor self) -> Tensor\n  self: grad.sum_to_size(self.sizes())\n"
    )
    vendor.path("specset.toml").write_text(
        'base = { specs = "../base", derivatives = "alone" }\nfunctions.take = "defined"\n'
        '[[layer]]\nname = "own"\nnative = "own.yaml"\nderivatives = "formulas.yaml"\n'
    )
    run = vendor.run()
    assert run.status == 1
    assert run.stderr.count("error: ") == 1 and "take" not in run.stderr
