"""A composite operator of what is written to afterwards: by the graph, then the gradients are those before the writes,
where eager ends in an error; by the caller, then it is an error as in eager."""

from __future__ import annotations

from collections.abc import Callable
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

EAGER = library.functions(library.SOURCES / "overwritten.py")
BEFORE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "product": lambda x, y: x * y,
    "rows": lambda x, y: x[0] * y[1],
    "listed": lambda x, y: x @ y.t(),
    "perhaps_flat": lambda x, y: (x * y).reshape(-1),
}


@pytest.fixture(scope="module", params=["double_backward=0", "double_backward=1"])
def ops(request: pytest.FixtureRequest, sources: Callable[[str], Any]) -> Any:
    return sources(request.param)


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
def test_a_write_by_the_caller_before_the_backward_is_an_error(ops: Any, name: str) -> None:
    for function in (EAGER[name], getattr(ops, name)):
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
