"""Described sets in the split layout: what a description says of files holds for their shards."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from project import ROOT

from vendors.vendor import Vendor, registered

EXAMPLE = ROOT / "examples" / "vendor"
SPLIT = {"layout": "split", "shards": 16}
NODES = re.compile(r"^struct TORCH_API (\w+) : public (?:TraceableFunction|Node) ", re.MULTILINE)
INCLUDES = re.compile(r'^#include "(Toy\w*|Functions\w*)\.h"', re.MULTILINE)


def kernels(files: Mapping[str, str]) -> Counter[str]:
    """How often each kernel is registered."""
    counts: Counter[str] = Counter()
    for name, text in files.items():
        kind = "view" if "namespace ADInplaceOrView" in text else "autograd"
        counts.update(f"{kind} {operator}" for operator in registered(text) if "Everything" not in name)
    return counts


def nodes(files: Mapping[str, str]) -> Counter[str]:
    """How often each Node is declared, and defined."""
    counts: Counter[str] = Counter()
    for text in files.values():
        counts.update(NODES.findall(text))
        counts.update(re.findall(r"^variable_list (\w+)::apply\(", text, re.MULTILINE))
    return counts


def missing(files: Mapping[str, str]) -> set[str]:
    """The headers of Nodes that generated files include and that are not generated."""
    return {result for text in files.values() for result in INCLUDES.findall(text) if f"{result}.h" not in files}


def complete(files: Mapping[str, str]) -> None:
    """Each Node is declared once and defined once, each kernel registered once, and no header is missing."""
    assert set(nodes(files).values()) == {2}, nodes(files)
    assert set(kernels(files).values()) == {1}, kernels(files)
    assert missing(files) == set()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    return Vendor(tmp_path_factory.mktemp("example"), EXAMPLE)


@pytest.fixture
def example(shared: Vendor) -> Vendor:
    """The example as it is, with a cache that knows of earlier edits."""
    shutil.copytree(EXAMPLE, shared.path(""), dirs_exist_ok=True)
    shutil.rmtree(shared.folder / "generated", ignore_errors=True)
    return shared


def test_each_kernel_is_registered_once(example: Vendor) -> None:
    upstream, split = example.build(), example.build(**SPLIT)
    complete(upstream)
    complete(split)
    assert kernels(split) == kernels(upstream)
    assert nodes(split) == nodes(upstream)


def test_a_shard_without_functions_has_no_kernels(example: Vendor) -> None:
    example.path("specset.toml").write_text(
        example.path("specset.toml").read_text().replace("shards = 1", "shards = 40")
    )
    files = example.build()
    complete(files)
    assert len([name for name in files if name.startswith("VariableType_")]) == 40


@pytest.mark.parametrize("layout", ["upstream", "split"])
@pytest.mark.parametrize("place", ['file."VariableType.h".slots', "slots"])
def test_a_header_has_the_pieces_of_all_functions(layout: str, place: str, tmp_path: Path) -> None:
    vendor = Vendor(tmp_path)
    vendor.replace(
        "specset.toml", '[family.variable_type.file."VariableType.h".slots]', f"[family.variable_type.{place}]"
    )
    declared = "at::Tensor swish(c10::DispatchKeySet ks, const at::Tensor & self);"
    assert declared in vendor.build(layout=layout, shards=16)["VariableType.h"]


def test_slots_take_each_part_of_a_definition_once(example: Vendor) -> None:
    """Holes of the set's own in the templates of Nodes: each is in the namespaces around it, in each shard's header."""
    slots = """
[family.nodes.file."Functions.h".slots]
others = { piece = "declaration", of = "own" }
of_pytorch = { piece = "declaration", of = "rest" }
about = { text = "// What this is." }

[family.nodes.file."Functions.cpp".slots]
autograd_function_definitions = { piece = "definition" }
"""
    example.replace("specset.toml", "[family.variable_type]\n", f"{slots}\n[family.variable_type]\n")
    holes = "$others\n\n} // namespace toy::autograd\n\nnamespace toy::autograd {\n\n${of_pytorch}\n// ${about}"
    example.replace("templates/Functions.h", "${autograd_function_declarations}", holes)
    upstream, split = example.build(), example.build(**SPLIT)
    complete(upstream)
    complete(split)
    assert nodes(split) == nodes(upstream)
    common = split["Functions_common.h"]
    assert NODES.findall(common) == [] and "// What this is." in common
    for k in range(16):
        assert split[f"Functions_{k}.h"].count("namespace toy::autograd {") == 2
    defined = [text for name, text in split.items() if re.fullmatch(r"Functions_\d+_formulas.cpp", name)]
    assert sum(text.count("C10_HIDDEN variable_list") for text in defined) == 6
    assert sum(text.count(".yaml: - name: ") for text in defined) == 6, "each says which entry it is from"


def test_templates_may_have_either_hole_of_nodes(example: Vendor) -> None:
    example.replace("templates/Functions.h", "${autograd_function_declarations}\n", "")
    hole = "${autograd_function_definitions}"
    example.replace("templates/Functions.cpp", hole, f"${{autograd_function_declarations}}\n{hole}")
    upstream, split = example.build(), example.build(**SPLIT)
    assert nodes(upstream) == nodes(split)
    complete(split)


@pytest.mark.parametrize("tree", [{}, {"tree": "checkout"}], ids=["folder", "tree"])
def test_files_of_another_layout_do_not_stay(example: Vendor, tree: dict[str, str]) -> None:
    first = example.build(**tree)
    split = example.build(**SPLIT, **tree)
    inner = next(name for name in split if name.endswith("Functions_3.h"))
    assert any(name.endswith("Functions_3.h.d") for name in split)
    (example.folder / "generated" / inner).write_text("// by hand\n")
    files = example.build(**tree)
    assert sorted(files) == sorted([*first, inner]), "what was changed stays"


def test_lines_are_for_slots_too(example: Vendor) -> None:
    """With the same text otherwise, even where what is replaced is partly a formula's."""
    slots = '[family.nodes.file."Functions.cpp".slots]\nautograd_function_definitions = "definition"\n'
    example.replace("specset.toml", "[family.variable_type]\n", f"{slots}\n[family.variable_type]\n")
    edit = 'replace = [{ from = "= (mish_gradient(grad, ", to = "= (mish_slope(grad, " }]\n'
    example.replace("specset.toml", '"Functions.cpp"]\n', f'"Functions.cpp"]\n{edit}')
    plain = example.build(**SPLIT)
    printed = example.build(**SPLIT, lines=1)
    for name in plain:
        if not name.endswith((".d",)):
            lines = [line for line in printed[name].split("\n") if not line.startswith("#line ")]
            assert lines == plain[name].split("\n"), name
    assert sum(text.count('toy_derivatives.yaml"\n') for text in printed.values()) >= 2
