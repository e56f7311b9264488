"""Hidden outputs: what a backend's kernel returns after the results of its operator, for the backward formulas."""

from __future__ import annotations

import subprocess
from pathlib import Path

import forked
import pytest
from cpp import toolchain
from pairs.sets import SETS

from vendors.vendor import Vendor, kernel

TOML, DERIVATIVES = "specset.toml", "plugin/config/derivatives.yaml"
VIEWS = 'add.views = { head = "self" }'
SCALED = '"twice ? grad * by * 2 : grad * by"'


@pytest.fixture
def vendor(tmp_path: Path) -> Vendor:
    """The set with two hidden outputs of `scaled`, which has no other variants."""
    vendor = Vendor(tmp_path)
    vendor.replace(TOML, VIEWS, f'{VIEWS}\nadd.hidden_outputs = {{ scaled = "Tensor mask, SymInt[] sizes" }}')
    vendor.replace(DERIVATIVES, SCALED, "(grad * mask).expand_symint(sizes)")
    return vendor


def test_a_kernel_takes_them_from_its_call_and_saves_them_after_it(vendor: Vendor) -> None:
    text = kernel(vendor.build()["VariableType_0.cpp"], "scaled")
    _, call, after = text.partition("auto [result, mask, sizes] = std::move(_tmp);")
    assert call and "accel::redispatch::scaled(" in text
    assert "grad_fn->mask_ = SavedVariable(mask, false);" in after
    assert "grad_fn->sizes = c10::SymIntArrayRef(sizes).vec();" in after
    assert after.rstrip().endswith("return result;")


def test_a_node_unpacks_them_as_values_that_it_did_not_compute(vendor: Vendor) -> None:
    files = vendor.build()
    node = files["Functions.cpp"].partition("ScaledBackward0")[2]
    assert "auto mask = mask_.unpack();" in node
    assert "std::vector<c10::SymInt> sizes;" in files["Functions.h"]


def test_a_formula_may_save_the_sizes_alone(vendor: Vendor) -> None:
    vendor.replace(DERIVATIVES, "(grad * mask).expand_symint(sizes)", "grad.expand_symint(mask.sym_sizes())")
    text = kernel(vendor.build()["VariableType_0.cpp"], "scaled")
    assert "grad_fn->mask_sym_sizes = mask.sym_sizes().vec();" in text.partition("std::move(_tmp);")[2]
    assert "SavedVariable(mask" not in text


def test_a_function_that_returns_them_is_called_if_it_is_named(vendor: Vendor) -> None:
    vendor.replace(TOML, VIEWS, f'{VIEWS}\nadd.hidden_kernels = {{ "plugin::scaled" = "accel::own::scaled" }}')
    assert "return accel::own::scaled(ks & " in kernel(vendor.build()["VariableType_0.cpp"], "scaled")


def test_a_release_without_them_has_the_usual_kernel(vendor: Vendor) -> None:
    """The set's facts are for all releases; a table with a bound is not."""
    vendor.replace(TOML, "[[facts]]\nadd.complex", '[[facts]]\nsince = "2.14"\nadd.complex')
    vendor.replace(DERIVATIVES, "(grad * mask).expand_symint(sizes)", "grad * by")
    vendor.replace(TOML, 'add.functional_without_out = ["count"]\n', "")
    vendor.append(TOML, '\n[[facts]]\nadd.functional_without_out = ["count"]\n')
    text = kernel(vendor.build(release="2.13")["VariableType_0.cpp"], "scaled")
    assert "auto result = std::move(_tmp);" in text


def test_an_edit_of_them_gives_what_a_clean_build_gives(vendor: Vendor) -> None:
    before = vendor.build()
    vendor.replace(TOML, "SymInt[] sizes", "int[] sizes")
    edited = vendor.build()
    written = {name for name in edited if edited[name] != before[name]}
    assert {"Functions.h", "Functions.cpp", "VariableType_0.cpp"} <= written
    assert not {"VariableType.h", "wrappers.cc", "python_functions.h"} & written
    assert edited == vendor.build(cache="other")
    vendor.replace(TOML, "int[] sizes", "SymInt[] sizes")
    assert vendor.build() == before


def test_an_edit_of_them_emits_what_has_them_and_nothing_else(vendor: Vendor) -> None:
    own = ["ScaledBackward0", "VariableType::scaled"]
    vendor.build()
    edits = [
        ("SymInt[] sizes", "int[] sizes", own),  # another type
        ("Tensor mask, int[] sizes", "int[] sizes, Tensor mask", own),  # another order
        ("scaled = ", '"plugin::scaled" = ', own[1:]),  # the same, by another name
    ]
    for old, new, units in edits:
        vendor.replace(TOML, old, new)
        run = vendor.run()
        assert (run.status, sorted(run.units)) == (0, units), run.stderr
        assert vendor.files() == vendor.build(cache="other")


GRAPH = """
import torch

def gate(x: torch.Tensor) -> torch.Tensor:
    return torch.mm(x, x)
"""


def test_a_graph_that_needs_them_is_refused(vendor: Vendor) -> None:
    (vendor.folder / "uses.py").write_text(GRAPH)
    vendor.replace(TOML, "add.hidden_outputs = {", 'add.hidden_outputs = { mm = "Tensor cache",')
    vendor.replace(DERIVATIVES, "mm_gradients(grad, self, other,", "mm_gradients(grad, cache, other,")
    run = vendor.run(graphs="uses.py", families="graphs")
    assert run.status != 0
    assert "uses.py:5:12: error: gate: the derivative of 'mm' uses 'cache', a hidden output" in run.stderr


TYPES = "Tensor t, Tensor[] ts, int i, int[] is, SymInt s, SymInt[] ss, float f, bool b, Scalar x"
CPP = (
    "at::Tensor, std::vector<at::Tensor>, int64_t, std::vector<int64_t>, c10::SymInt, std::vector<c10::SymInt>, double,"
    " bool, at::Scalar"
)


@pytest.mark.slow(15)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_kernels_and_nodes_of_all_types_compile(tmp_path: Path) -> None:
    """The example of a vendor, with hidden outputs of every type that there is."""
    SETS["toy"].make(tmp_path, "2.13.0")
    folder = tmp_path / "set"
    edits = {
        "specset.toml": [("Tensor mask, int[] shape", TYPES)],
        "specs/toy_derivatives.yaml": [
            ("gated_gradient(grad, mask, shape)", "all_types(t, ts, i, is, s, ss, f, b, x)")
        ],
        "csrc/toy_formulas.h": [
            (
                "// The gradient of a row",
                "at::Tensor all_types(const at::Tensor&, at::TensorList, int64_t, at::IntArrayRef,"
                " c10::SymInt, c10::SymIntArrayRef, double, bool, at::Scalar);\n\n// The gradient of a row",
            )
        ],
        "csrc/toy_kernels.h": [
            ("std::tuple<at::Tensor, at::Tensor, std::vector<int64_t>>(const", f"std::tuple<at::Tensor, {CPP}>(const")
        ],
    }
    for name, pairs in edits.items():
        text = (folder / name).read_text()
        for old, new in pairs:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (folder / name).write_text(text)
    forked.gradmill(["specs=set", "generated=generated", "cache=cache", "strict=1"], tmp_path).clean()
    (tmp_path / "all.cpp").write_text('#include "Functions.cpp"\n#include "VariableType_0.cpp"\n')
    command = toolchain.syntax_command(tmp_path / "all.cpp", include=(tmp_path / "generated", folder / "csrc"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
