"""Fixtures: a planner of functions, for tests of the steps before C++."""

from __future__ import annotations

import pytest

from graphs.planning import Planner


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """Plans a function that a test defines, with the operators of the core set."""
    return Planner(tmp_path_factory.mktemp("plans"))
