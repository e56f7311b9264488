"""The operators that the tests of views run: torch's, and those of the core set."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from cpp import extension

# Without torch there is nothing to collect.
collect_ignore_glob = [] if find_spec("torch") else ["*.py"]

if find_spec("torch"):
    from torch_seed import seed_torch

    from views import operators


@pytest.fixture(scope="session")
def core_views(core_nodes: Path) -> operators.Ops:
    """The operators with our Nodes: built, loaded."""
    extension.build(core_nodes)
    extension.load(core_nodes)
    return operators.core_ops()


@pytest.fixture(params=["torch", "core"])
def ops(request: pytest.FixtureRequest) -> operators.Ops:
    """Every test runs over both."""
    seed_torch(0)
    return operators.torch_ops() if request.param == "torch" else request.getfixturevalue("core_views")
