"""Fixtures of several modules."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project
from sharing import unbuilt


@pytest.fixture
def other(tiny_built: Project, tmp_path: Path) -> Project:
    """A small set that was never built here."""
    return unbuilt(tiny_built, tmp_path / "another machine")
