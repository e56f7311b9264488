"""The operators that the tests of views run: torch's over the kernels in the process, and those of the core set."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from cpp import extension

# Without torch there is nothing to collect.
collect_ignore_glob = [] if find_spec("torch") else ["*.py"]

if find_spec("torch"):
    from torch_seed import seed_torch

    from views import kernels


def pytest_report_header() -> str:
    return f"views: kernels {kernels.kernels()}" if os.environ.get("GRADMILL_KERNELS") else "views: kernels of torch"


@pytest.fixture(scope="session")
def core_views(core_nodes: Path) -> kernels.Ops:
    """The operators with our Nodes: built, loaded."""
    extension.build(core_nodes)
    extension.load(core_nodes)
    return kernels.core_ops()


@pytest.fixture(params=["torch", "core"])
def ops(request: pytest.FixtureRequest) -> kernels.Ops:
    """Every test runs over both."""
    kernels.kernels()
    seed_torch(0)
    return kernels.torch_ops() if request.param == "torch" else request.getfixturevalue("core_views")
