"""What depends on the dispatcher's signatures: structs of operators, schemas, plumbing of vmap, BackendSelect."""

from __future__ import annotations

import pytest
from project import Project

from aten.conftest import FOLDER, Expected, generated

FAMILIES = "dispatcher_api,backend_select"

# The first function of a namespace, or the only one, may not be selected; of `odd_text.default` another has its tags.
SELECTED = """
operators:
  aten::exp: {}
  aten::odd_pair: {}
  aten::odd_factory.plain: {}
  aten::odd_between: {}
  quantized::odd_three: {}
"""


def compare(files: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """Checks that all files are torchgen's, and that none is missing."""
    assert {name for name in files if files[name] != expected[name]} == set()
    of_operators = {name for name in expected if name.endswith("_ops.h") or name.startswith("Operators")}
    assert len(of_operators) > 20
    assert of_operators <= files.keys()


def test_odd_signatures_equal_torchgens(aten: Project, by_gen: Expected) -> None:
    compare(generated(aten, families=FAMILIES), by_gen())


@pytest.mark.parametrize("selected", ["", SELECTED], ids=["all", "selected"])
def test_schemas_of_other_namespaces_equal_torchgens(aten: Project, by_gen: Expected, selected: str) -> None:
    aten.append("native_functions.yaml", (FOLDER / "elsewhere.yaml").read_text())
    path = aten.specs / "selected.yaml"
    path.write_text(selected)
    words = [f"--op-selection-yaml-path={path}"] if selected else []
    files = generated(aten, families=FAMILIES, **({"operators": path} if selected else {}))
    expected = by_gen(*words)
    compare(files, expected)
    assert b"TORCH_LIBRARY_FRAGMENT(quantized, m) {\n" in files["RegisterSchema.cpp"]


def test_an_edit_writes_what_prints_it(aten: Project) -> None:
    aten.build(families=FAMILIES)
    aten.replace("native_functions.yaml", "    CPU, CUDA: odd_text\n", "    CPU: odd_text\n    CUDA: odd_text_cuda\n")
    assert aten.run(families=FAMILIES).shards == []
    aten.replace(
        "native_functions.yaml", "  tags: [nondeterministic_seeded, pointwise]\n", "  tags: nondeterministic_seeded\n"
    )
    run = aten.run(families=FAMILIES)
    assert run.shards == ["ATen/RegisterSchema.cpp"]
    assert "at::_ops::odd_number" not in run.units  # its tags have the same number
