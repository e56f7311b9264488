"""The tests run over the kernels that they say they run over."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from cpp import extension

from views import kernels
from views.graphs import leaf


def test_a_library_that_is_given_has_kernels_in_use() -> None:
    values = kernels.kernels()
    assert bool(values.replaced) == bool(os.environ.get(kernels.VARIABLE))
    assert set(values.replaced) <= set(kernels.USED)


def test_both_sets_of_operators_are_what_they_say(ops: kernels.Ops) -> None:
    b = leaf(2, 3).clone()
    ops.mul_(b[0], 2)
    assert b.grad_fn is not None
    if not ops.is_torch:
        assert b.grad_fn.name() == "gradmill::core::CopySlices"
    elif not kernels.kernels().library:
        assert b.grad_fn.name() == "torch::autograd::CopySlices"


@pytest.mark.slow(20)
def test_all_of_this_holds_over_kernels_that_take_the_place_of_torchs(core_nodes: Path) -> None:
    """So torch's own functions, and what backward itself does in place, leave our Nodes in the graph."""
    extension.build(core_nodes, extension.IN_ATEN)
    library = core_nodes / extension.IN_ATEN
    command = [sys.executable, "-m", "pytest", "-n", "0", "-rs", str(Path(__file__).parent)]
    environment = {**os.environ, kernels.VARIABLE: str(library)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-4000:]
    message = f"views: kernels 6 of {len(kernels.USED)} from {library}, torch {torch.__version__}"
    assert message in done.stdout and re.search(r"\d{2,} passed", done.stdout)
