"""The set of the tests of descriptions, built."""

from __future__ import annotations

from pathlib import Path

import pytest

from vendors.vendor import Vendor


@pytest.fixture(scope="session")
def built(layers_built: Vendor, tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    return layers_built.copy(tmp_path_factory.mktemp("vendor"))


@pytest.fixture
def vendor(layers_built: Vendor, tmp_path: Path) -> Vendor:
    """A copy of it."""
    return layers_built.copy(tmp_path)
