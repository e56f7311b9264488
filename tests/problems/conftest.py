"""The set that the errors of `tests/bad` are made in, built."""

from __future__ import annotations

from pathlib import Path

import pytest
from copies import copy_of
from project import Project

from problems.test_bad_specs import BASE


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("base"), BASE, (BASE / "RELEASE").read_text()).build()


@pytest.fixture
def project(base: Project, tmp_path: Path) -> Project:
    """A copy of it."""
    return copy_of(base, tmp_path)
