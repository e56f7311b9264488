"""Generated sources compile, link and load, and torch's dispatcher knows each kernel once."""

from __future__ import annotations

from pathlib import Path

import linked
import pytest

from cpp import toolchain

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())


@pytest.mark.slow(35)
def test_each_kernel_of_a_vendor_is_registered_once_in_the_loaded_library(tmp_path: Path) -> None:
    linked.assert_registered_once(linked.example(), tmp_path, ["upstream"], joined=True)


@pytest.mark.campaign
@pytest.mark.parametrize("of", [linked.example(), linked.core()], ids=["vendor", "core"])
def test_each_kernel_is_registered_once_in_both_layouts(of: linked.Linked, tmp_path: Path) -> None:
    """Each source by itself, of core all: that takes minutes."""
    linked.assert_registered_once(of, tmp_path, linked.LAYOUTS, joined=False)
