"""The set of the tests of descriptions, built."""

from __future__ import annotations

from pathlib import Path

import pytest

from vendors.vendor import Vendor


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    vendor = Vendor(tmp_path_factory.mktemp("vendor"))
    vendor.build()
    return vendor


@pytest.fixture
def vendor(built: Vendor, tmp_path: Path) -> Vendor:
    """A copy of it."""
    return built.copy(tmp_path)
