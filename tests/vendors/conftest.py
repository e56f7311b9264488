"""The set of the tests of descriptions, new and built."""

from __future__ import annotations

from pathlib import Path

import pytest

from vendors.vendor import Vendor


@pytest.fixture
def vendor(tmp_path: Path) -> Vendor:
    return Vendor(tmp_path)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    vendor = Vendor(tmp_path_factory.mktemp("vendor"))
    vendor.build()
    return vendor
