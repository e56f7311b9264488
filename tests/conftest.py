"""Fixtures: projects to run doit in, and the spec set of the installed torch."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from project import CORE, Project

RELEASE = (CORE / "RELEASE").read_text().strip()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the core spec set, never built."""
    return Project(tmp_path, CORE, RELEASE)


@pytest.fixture
def built(project: Project) -> Project:
    """A copy of the core spec set, built."""
    return project.build()


@pytest.fixture(scope="session")
def torch_specs() -> Path:
    """The spec set that the installed torch comes with."""
    torchgen = find_spec("torchgen")
    if torchgen is None or not torchgen.submodule_search_locations:
        pytest.skip("torch is not installed: pip install 'gradmill[test]'")
    return Path(next(iter(torchgen.submodule_search_locations))) / "packaged"


@pytest.fixture
def torch_project(tmp_path: Path, torch_specs: Path) -> Project:
    """A copy of the installed torch's spec set, never built."""
    return Project(tmp_path, torch_specs, metadata.version("torch"), packaged=True)
