"""A composite operator of inputs that the graph writes to afterwards: the gradients are those before the writes, where
eager ends in an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor

from graphs import library
from graphs.samples import tensor

pytestmark = [
    pytest.mark.alternates(8, 16, together="overwritten"),
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
]

SOURCE = """
import torch
from torch import Tensor


def product(x: Tensor, y: Tensor) -> Tensor:
    z = x.multiply(y)
    x.add_(1)
    y.mul_(2)
    return z


def rows(x: Tensor, y: Tensor) -> Tensor:
    z = x[0].multiply(y.t()[:, 1])
    x.exp_()
    return z


def listed(x: Tensor, y: Tensor) -> Tensor:
    z = torch.einsum("ij,kj->ik", [x, y])
    x.sin_()
    return z


def perhaps_flat(x: Tensor, y: Tensor) -> Tensor:
    z = x.reshape(-1).multiply(y.reshape(-1))
    x.cos_()
    return z
"""
BEFORE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "product": lambda x, y: x * y,
    "rows": lambda x, y: x[0] * y[1],
    "listed": lambda x, y: x @ y.t(),
    "perhaps_flat": lambda x, y: (x * y).reshape(-1),
}


@pytest.fixture(scope="module", params=["double_backward=0", "double_backward=1"])
def ops(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("overwritten")
    (folder / "overwritten.py").write_text(SOURCE)
    namespace = f"overwritten_{request.param[-1]}"
    return library.build(folder / "overwritten.py", folder, namespace, "torch", request.param)


@pytest.mark.parametrize("name", BEFORE)
def test_gradients_are_those_before_the_write(ops: Any, name: str) -> None:
    leaves = [tensor(4, 6).requires_grad_() for _ in range(2)]
    weights = torch.rand_like(BEFORE[name](*leaves))
    expected = torch.autograd.grad((BEFORE[name](*leaves) * weights).sum(), leaves)
    given = [leaf * 1 for leaf in leaves]
    result = getattr(ops, name)(*given)
    assert not torch.equal(given[0], leaves[0])  # it was written to
    actual = torch.autograd.grad((result * weights).sum(), leaves)
    assert all(map(torch.allclose, actual, expected))
