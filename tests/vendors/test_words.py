"""Selections by a tag, a layer, or a vendor's own key."""

from __future__ import annotations

from pathlib import Path

import pytest

from vendors.vendor import Vendor, kernel, registered

# Selections, and the kernels of NAMES that are in a file with the selected functions.
NAMES = ("swish", "swish_", "plugin_add_Tensor", "scaled", "mm", "exp", "transpose_")
SELECTIONS = {
    "tag:inplace_view": {"transpose_"},
    "layer:plugin": {"plugin_add_Tensor", "scaled"},
    "layer:accel key:exposed=True": {"swish"},
    "key:exposed": {"swish"},
    "key:exposed=True": {"swish"},
    "key:slow": {"scaled", "plugin_add_Tensor"},
    "key:tags=generated": {"swish"},
}
FILE = """
[family.variable_type.file."own_{0}.cc"]
template = "templates/wrappers.cc"
raw = true
slots.definitions = {{ piece = "definition", of = "{1}" }}
slots.registrations = {{ piece = "registration", of = "{1}" }}
"""


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    """The set with a file for each selection, built."""
    vendor = Vendor(tmp_path_factory.mktemp("words"))
    vendor.replace("specset.toml", 'take = "defined"', 'take = ["defined", "tag:inplace_view"]')
    vendor.replace("accel/functions.yaml", "    exposed: True\n", "    exposed: True\n    tags: [core, generated]\n")
    vendor.append("specset.toml", "".join(FILE.format(place, words) for place, words in enumerate(SELECTIONS)))
    vendor.build()
    return vendor


@pytest.mark.parametrize("words", SELECTIONS)
def test_functions_are_selected_by_a_tag_a_layer_or_a_key(words: str, vendor: Vendor) -> None:
    text = vendor.files()[f"own_{[*SELECTIONS].index(words)}.cc"]
    assert {name for name in NAMES if kernel(text, name)} == SELECTIONS[words]


def test_functions_take_part_by_a_key_and_no_longer_when_it_is_false(tmp_path: Path) -> None:
    vendor = Vendor(tmp_path)
    vendor.replace("specset.toml", 'take = "defined"', 'take = ["key:exposed", "tag:core"]')
    kernels = vendor.build()["VariableType_0.cpp"]
    assert "swish" in registered(kernels) and "scaled" not in registered(kernels)
    vendor.replace("accel/functions.yaml", "    exposed: True\n", "    exposed: False\n")
    assert "swish" not in registered(vendor.build()["VariableType_0.cpp"])
