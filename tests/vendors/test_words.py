"""Selections by a tag, a layer, or a vendor's own key."""

from __future__ import annotations

from pathlib import Path

import pytest

from vendors.vendor import Vendor, kernel, registered


@pytest.fixture
def vendor(tmp_path: Path) -> Vendor:
    return Vendor(tmp_path)


def _in_wrappers(vendor: Vendor, words: str) -> set[str]:
    """The kernels in `wrappers.cc` if its functions are those of a selection."""
    vendor.replace("specset.toml", 'take = "defined"', 'take = ["defined", "tag:inplace_view"]')
    vendor.replace("specset.toml", 'functions = ["swish", "plugin::add.Tensor"]', f'functions = "{words}"')
    wrappers = vendor.build()["wrappers.cc"]
    return {
        name
        for name in ("swish", "swish_", "plugin_add_Tensor", "scaled", "mm", "exp", "transpose_")
        if kernel(wrappers, name)
    }


@pytest.mark.parametrize(
    ("words", "kernels"),
    [
        ("tag:inplace_view", {"transpose_"}),
        ("layer:plugin", {"plugin_add_Tensor", "scaled"}),
        ("layer:accel inplace", {"swish_"}),
        ("key:exposed", {"swish"}),
        ("key:version=all_version", {"mm", "exp", "plugin_add_Tensor"}),
        ("key:exposed=True", {"swish"}),
        ("key:slow", {"scaled", "plugin_add_Tensor"}),
    ],
)
def test_functions_are_selected_by_a_tag_a_layer_or_a_key(words: str, kernels: set[str], vendor: Vendor) -> None:
    assert _in_wrappers(vendor, words) == kernels


def test_functions_take_part_by_a_tag(vendor: Vendor) -> None:
    vendor.replace("specset.toml", 'take = "defined"', 'take = ["key:exposed", "tag:core"]')
    vendor.replace("specset.toml", 'functions = ["swish", "plugin::add.Tensor"]\n', "")
    kernels = vendor.build()["VariableType_0.cpp"]
    assert "swish" in registered(kernels) and "scaled" not in registered(kernels)


def test_an_edit_of_a_key_moves_the_function(vendor: Vendor) -> None:
    assert "swish" in _in_wrappers(vendor, "key:exposed")
    vendor.replace("accel/functions.yaml", "    exposed: True\n", "    exposed: False\n")
    assert not kernel(vendor.build()["wrappers.cc"], "swish")
