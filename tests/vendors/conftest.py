"""The set of the tests of descriptions, and the one that `gradmill init` writes, built."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradmill.cli.commands.init import init
from vendors.vendor import Vendor


@pytest.fixture(scope="session")
def built(layers_built: Vendor, tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    return layers_built.copy(tmp_path_factory.mktemp("vendor"))


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    source = tmp_path_factory.mktemp("new") / "set"
    init(str(source), "core")
    begun = Vendor(tmp_path_factory.mktemp("begun"), source)
    begun.run().clean()
    return begun


@pytest.fixture
def vendor(layers_built: Vendor, tmp_path: Path) -> Vendor:
    """A copy of it."""
    return layers_built.copy(tmp_path)
