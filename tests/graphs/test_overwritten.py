"""A composite operator of what is written to afterwards: by the graph, then the gradients are those before the writes,
where eager ends in an error; by the caller, then it is an error as in eager."""

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
    pytest.mark.slow(0.7),
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


def of_a_view(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x, torch.einsum("ij,kj->ik", [x.t()[1:].t(), y[:, 1:]])


def of_items(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    one, other = x[:2].unbind(0)
    return x, torch.einsum("i,i,ki->k", [one, other, y])


def of_a_list(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x, torch.linalg.multi_dot(x[:, :4].expand(2, 4, 4).unbind(0)) @ y


def of_a_result(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 2
    return z, torch.einsum("ij,kj->ik", [z[1:], y])


def of_a_part_of_a_result(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 2
    return z[1:], torch.einsum("ij,kj->ik", [z[2:], y])


def of_an_item(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    one, other = torch._foreach_exp([x, y])
    return one, one * 2 + other


def of_a_given_list(xs: list[Tensor], y: Tensor) -> tuple[Tensor, Tensor]:
    squares = torch._foreach_mul(xs, xs)
    return xs[0] * 1, squares[0] * y


def perhaps_returned(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 2
    part = z[:, 1:].flatten()
    part.exp_()
    z.add_(1)
    return part, part.sum() * y
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


@pytest.mark.parametrize("name", ["of_a_view", "of_items", "of_a_list", "of_a_result", "of_a_part_of_a_result"])
def test_a_write_by_the_caller_before_the_backward_is_an_error(ops: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "overwritten.py"
    path.write_text(SOURCE)
    for function in (library.functions(path)[name], getattr(ops, name)):
        x, y = (tensor(4, 6).requires_grad_() for _ in range(2))
        written, result = function(x * 1, y)
        with torch.no_grad():
            written.mul_(2)
        with pytest.raises(RuntimeError, match=r"modified (by an )?inplace"):
            result.sum().backward()


def test_a_write_to_a_tensor_of_a_saved_list_is_an_error(ops: Any) -> None:
    x, y = (tensor(4, 6).requires_grad_() for _ in range(2))
    written, result = ops.of_an_item(x, y)
    with torch.no_grad():
        written.zero_()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: .* list that of_an_item saved"):
        result.sum().backward()
    written = x * 1
    _, result = ops.of_a_given_list([written, y], y)
    with torch.no_grad():
        written.zero_()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: .* list that of_a_given_list saved"):
        result.sum().backward()


def test_a_saved_value_that_is_returned_in_the_place_of_a_view_is_its_own(ops: Any) -> None:
    x, y = (tensor(4, 6).requires_grad_() for _ in range(2))
    (expected,) = torch.autograd.grad((x * 2)[:, 1:].exp().sum() * y.sum(), x)
    written, result = ops.perhaps_returned(x, y)
    with torch.no_grad():
        written.zero_()
    torch.testing.assert_close(torch.autograd.grad(result.sum(), x)[0], expected)
