"""Projects of a few operators: what commands do is the same for many."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RELEASE
from project import Project


@pytest.fixture
def project(tmp_path: Path, tiny_specs: Path) -> Project:
    """A few operators, never built."""
    return Project(tmp_path, tiny_specs, RELEASE)


@pytest.fixture
def built(tiny: Project) -> Project:
    """A few operators, built."""
    return tiny
