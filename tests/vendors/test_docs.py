"""docs/vendors.md has every key, and its examples are descriptions."""

from __future__ import annotations

import re
from pathlib import Path

import forked
import msgspec
import pytest
from project import ROOT

from pipeline.families.family import Family, Layout
from pipeline.families.overrides import WORDS
from pipeline.families.own_files import items, values
from pipeline.families.table import FAMILIES
from pipeline.model import layers
from pipeline.releases import resolve
from pipeline.releases.model import PARTS, Release
from pipeline.rules.layers.facts import INTERNAL, is_collection
from pipeline.specs.layers import description, written
from pipeline.specs.layers.reading import read_description

DOC = (ROOT / "docs" / "vendors.md").read_text()
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", DOC, re.DOTALL)
TYPES = [
    type_
    for module in (description, layers, written)
    for type_ in vars(module).values()
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct) and type_.__struct_config__.forbid_unknown_fields
]
FILE_OF_A_LAYER = '[[layer]]\nname = "mine"\n[layer.native]\nfile = "mine.yaml"\n'  # which one example is a key of
QUOTED = " ".join(re.findall(r"`([^`\n]+)`", DOC + REFERENCE)) + " ".join(EXAMPLES)
KEYS = {key for type_ in TYPES for key in type_.__struct_encode_fields__}


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_is_documented(key: str) -> None:
    assert re.search(rf"\b{re.escape(key)}\b", QUOTED), key


def test_every_list_of_facts_word_part_and_piece_is_documented() -> None:
    facts = [field for field in Release.__struct_fields__ if is_collection(field)]
    described = {name: family for name, family in FAMILIES.items() if family.described}
    names = {*facts, *WORDS, *PARTS, *described, *(piece for family in described.values() for piece in family.pieces)}
    of_items = (name for listed in items.ITEM_NAMES.values() for name in listed)
    names |= {*values.NAMES, *values.WORDS, *items.ITEM_WORDS, *items.LISTS, *of_items}
    missing = [name for name in sorted(names - INTERNAL) if not re.search(rf"\b{name}\b", QUOTED)]
    assert missing == []


@pytest.mark.parametrize("family", [family for family in FAMILIES.values() if family.described], ids=lambda f: f.name)
def test_the_table_of_families_has_what_each_says_of_itself(family: Family) -> None:
    files = family.files([], Layout(slotted=("",)), resolve("2.13"))
    slots = dict.fromkeys(hole for file in files for hole in file.slots)
    listed = (", ".join(f"`{name}`" for name in names) for names in (family.templates, family.pieces, slots))
    row = re.search(rf"^\| `{family.name}` \| .*$", REFERENCE, re.MULTILINE)
    assert row is not None and row[0].endswith(f" | {' | '.join(listed)} |")


def test_the_reference_has_every_family_once() -> None:
    table = REFERENCE[REFERENCE.index("## Families") :]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(FAMILIES)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_is_a_description(number: int) -> None:
    text = EXAMPLES[number]
    around = FILE_OF_A_LAYER if text.startswith("versions =") else ""
    read_description("specset.toml", f"{around}{text}".encode())


# What the example of Ascend reads, in the form of their files. Entries with keys and lists that it does not name.
ASCEND = {
    "torch_npu/csrc/aten/npu_native_functions.yaml": """\
backend: NPU
cpp_namespace: at_npu::native
supported:
  - as_strided
  - func: clone
    op_api: True
custom:
  - func: npu_change_data_ptr(Tensor dst, Tensor src, int index) -> int
    exposed: True
  - func: npu_format_cast.Tensor(Tensor self, Tensor dst) -> Tensor
  - func: npu_format_cast_(Tensor(a!) self, Tensor src) -> Tensor(a!)
  - func: npu_format_cast_.acl_format(Tensor(a!) self, int acl_format) -> Tensor(a!)
""",
    "third_party/op-plugin/op_plugin/config/op_plugin_functions.yaml": """\
all_version: [v2.1, v2.6, v2.12, v2.13, v2.14, v2.15]
official:
  - func: abs(Tensor self) -> Tensor
    acl_op: all_version
    gen_opapi:
      structured_inherit: abs.out
custom:
  - func: npu_dtype_cast(Tensor self, int dtype, int? input_dtype=None) -> Tensor
    acl_op: all_version
    op_api: [v2.1, newest]
    exposed: [v2.1, newest]
    tags: pt2_compliant_tag
  - func: _npu_dtype_cast(Tensor self, ScalarType dtype) -> Tensor
    op_api: all_version
    dvm: all_version
    internal_format_opapi: all_version
    device_check: NoCheck
  - func: npu_nsa_compress_attention(Tensor query, Tensor key) -> (Tensor, Tensor)
    op_api: [v2.6, newest]
  - func: npu_fusion_attention_grad(Tensor query, Tensor key, Tensor value, Tensor d, int n) -> (Tensor, Tensor, Tensor)
    op_api: [v2.6, newest]
  - func: npu_scaled_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)
    op_api: v2.13
    dispatch:
      CompositeExplicitAutograd: npu_scaled_
symint:
  - func: zeros(SymInt[] size) -> Tensor
""",
    "third_party/op-plugin/op_plugin/config/derivatives.yaml": """\
all_version: [v2.1, v2.6, v2.12, v2.13, v2.14, v2.15]
backward:
- name: matmul(Tensor self, Tensor other) -> Tensor
  self, other: matmul_backward(grad, self, other, grad_input_mask)
  version: [v2.1, newest]
- name: matmul_backward(Tensor grad_out, Tensor self, Tensor other, bool[2] mask) -> (Tensor, Tensor)
  grad_out, self, other: matmul_double_backward(grads[0], grads[1], grad_out, self, other, grad_input_mask)
  version: all_version
- name: npu_dtype_cast(Tensor self, int dtype, int? input_dtype=None) -> Tensor
  self: grad.sum_to_size_symint(self.sym_sizes())
  version: all_version
- name: npu_nsa_compress_attention(Tensor query, Tensor key) -> (Tensor, Tensor)
  query, key: npu_fusion_attention_grad(query, key, result1, grad, query.sym_size(0).expect_int())
  version: [v2.6, newest]
- name: npu_scaled_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)
  self: grad.expand_symint(size)
  version: all_version
""",
    "torchnpugen/autograd/templates/VariableType.cpp": """\
// ${generated_comment}
${type_derived_method_definitions}
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
    ${wrapper_registrations_aten}
}
TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) {
    ${wrapper_registrations_npu}
}
""",
    "torchnpugen/autograd/templates/VariableType.h": "// ${generated_comment}\n${npu_variable_type}\n",
}


@pytest.fixture
def ascend(tmp_path: Path) -> Path:
    """The example of Ascend, with files of that shape."""
    for name, text in ASCEND.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (example,) = (text for text in EXAMPLES if "op_plugin_functions.yaml" in text and text.startswith("name ="))
    (tmp_path / "specset.toml").write_text(example)
    return tmp_path


def test_every_setting_of_the_example_of_ascend_matches_something(ascend: Path) -> None:
    status, _, errors = forked.gradmill(["specs=."], ascend)
    assert (status, errors) == (0, "")


# The first operators of a kind with a derivative: what is added to the functions, and to the derivatives.
OPTIONS = "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
FIRST = [
    (
        "  - func: npu_broadcast(Tensor self, int[] size) -> Tensor\n    op_api: all_version\n"
        "  - func: npu_broadcast.out(Tensor self, int[] size, *, Tensor(a!) out) -> Tensor(a!)\n"
        "    op_api: all_version\n",
        "- name: npu_broadcast(Tensor self, int[] size) -> Tensor\n  self: grad\n  version: all_version\n",
        ("VariableType_0.cpp", "at_npu::redispatch::npu_broadcast_out("),
    ),
    (
        f"  - func: npu_make(Tensor self, {OPTIONS}) -> Tensor\n    op_api: all_version\n",
        f"- name: npu_make(Tensor self, {OPTIONS}) -> Tensor\n  self: grad\n  version: all_version\n",
        ("variable_factories.h", "inline at::Tensor npu_make("),
    ),
]


@pytest.mark.parametrize(("functions", "derivatives", "expected"), FIRST, ids=["out", "factory"])
def test_the_example_of_ascend_is_right_for_the_first_operator_of_a_kind(
    ascend: Path, functions: str, derivatives: str, expected: tuple[str, str]
) -> None:
    config = ascend / "third_party/op-plugin/op_plugin/config"
    for name, before, added in (
        ("op_plugin_functions.yaml", "symint:\n", functions),
        ("derivatives.yaml", "- name: npu_scaled_", derivatives),
    ):
        text = (config / name).read_text()
        (config / name).write_text(text.replace(before, added + before, 1))
    status, _, errors = forked.gradmill(["specs=."], ascend)
    assert (status, errors) == (0, "")
    (file,) = ascend.glob(f"generated/*/{expected[0]}")
    assert expected[1] in file.read_text() and "npu_broadcast_outf(" not in file.read_text()
