"""The Node of a graph, and its wrapper: what else autograd may do with them, and errors of the caller."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor

from graphs import library

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())

SOURCE = """
import torch
from torch import Tensor


def product(x: Tensor, w: Tensor) -> Tensor:
    return (x * w).exp()


def doubled(x: Tensor, w: Tensor) -> Tensor:
    x.mul_(2)
    return x * w


def powers(x: Tensor) -> Tensor:
    return torch.matmul(x, x) + x.cumsum(0)


def pair(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.exp(), x.sin()


def first(xs: list[Tensor]) -> Tensor:
    return xs[0] * 2


def written_out(x: Tensor, y: Tensor) -> Tensor:
    return torch.sum(x, 1, out=y)


def half(x: Tensor) -> Tensor:
    return torch.polygamma(1, x)
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("node")
    path = folder / "node.py"
    path.write_text(SOURCE)
    return library.build(path, folder, "node_tests")


def square(value: float = 0.5) -> Tensor:
    return torch.full((3, 3), value, dtype=torch.float64)


def leaf(value: float = 0.5) -> Tensor:
    return square(value).requires_grad_()


def test_the_backward_runs_twice_only_where_it_is_told_to(ops: Any) -> None:
    x, w = leaf(), leaf(2.0)
    out = ops.product(x, w).sum()
    out.backward(retain_graph=True)
    first = x.grad.clone()
    out.backward()
    assert torch.equal(x.grad, 2 * first)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        out.backward()


def test_forward_mode_is_an_error_that_says_so(ops: Any) -> None:
    x, w = square(), square(2.0)
    with pytest.raises(NotImplementedError, match="product: a graph has no forward-mode AD"):
        torch.func.jvp(ops.product, (x, w), (x, w))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(w, w)
        with pytest.raises(NotImplementedError, match="product: a graph has no forward-mode AD"):
            ops.product(x, dual)
    assert torch.equal(ops.product(x, w), (x * w).exp())


def test_a_backward_of_one_output_frees_what_the_others_need(ops: Any) -> None:
    x = leaf()
    one, other = ops.pair(x)
    one.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        other.sum().backward()
    one, other = ops.pair(x)
    one.sum().backward(retain_graph=True)
    other.sum().backward()


def test_the_items_of_a_list_share_one_answer(ops: Any) -> None:
    assert ops.first([square(), leaf()]).requires_grad


def test_a_second_derivative_is_an_error_that_says_so(ops: Any) -> None:
    x, w = leaf(), leaf(2.0)
    (grad,) = torch.autograd.grad(ops.product(x, w).sum(), [x], create_graph=True)
    assert torch.allclose(grad, (x * w).exp() * w)
    with pytest.raises(RuntimeError, match="product: the backward of a graph cannot be differentiated again"):
        grad.sum().backward()


@pytest.mark.parametrize("asked", [0, 1])
def test_gradients_of_some_inputs_can_be_asked_for(ops: Any, asked: int) -> None:
    given = [leaf(), leaf(2.0)]
    (grad,) = torch.autograd.grad(ops.product(*given).sum(), [given[asked]])
    (expected,) = torch.autograd.grad((given[0] * given[1]).exp().sum(), [given[asked]])
    assert torch.allclose(grad, expected)


def test_inputs_and_outputs_that_are_written_to_before_the_backward_are_an_error(ops: Any) -> None:
    x, w = leaf(), square(2.0)
    out = ops.product(x, w)
    with torch.no_grad():
        out.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    out = ops.product(x, w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_inputs_that_share_memory_and_are_not_declared_are_an_error(ops: Any) -> None:
    base = square()
    with pytest.raises(
        RuntimeError, match="'x' is written to and shares memory with input 'w', which was not declared"
    ):
        ops.doubled(base, base[0:2])
    apart = torch.ones(6, 3, dtype=torch.float64)
    assert torch.equal(ops.doubled(apart[:3], apart[3:]), 2 * square(1.0))


def test_a_leaf_that_needs_a_gradient_is_not_written_to(ops: Any) -> None:
    x = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        ops.doubled(x, square())
    assert torch.equal(x, square())
    with torch.no_grad():
        ops.doubled(x, square())
    assert torch.equal(x, square(1.0))


def test_an_out_argument_is_not_resized(ops: Any) -> None:
    out = torch.zeros(3, dtype=torch.float64)
    assert ops.written_out(square(), out) is out and torch.equal(out, square().sum(1))
    with pytest.raises(RuntimeError, match=r"of shape \[2\] would be resized to \[3\], which a graph does not do"):
        ops.written_out(square(), torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize(("name", "inputs"), [("product", 2), ("powers", 1), ("half", 1)])
def test_what_is_saved_is_freed(ops: Any, name: str, inputs: int) -> None:
    """No Node holds itself by what it saved: with it the leaf goes that it leads to."""
    given = [leaf() for _ in range(inputs)]
    out = getattr(ops, name)(*given)
    assert out.grad_fn is not None
    alive = weakref.ref(given[0])
    del out, given
    gc.collect()
    assert alive() is None


def test_a_recorded_call_frees_what_it_saved_after_the_backward(ops: Any) -> None:
    x = leaf()
    out = ops.powers(x)
    out.sum().backward()
    assert torch.allclose(x.grad, torch.autograd.functional.jacobian(lambda t: (t @ t + t.cumsum(0)).sum(), x.detach()))


def test_without_gradients_nothing_has_a_history(ops: Any) -> None:
    with torch.no_grad():
        assert not ops.product(leaf(), leaf()).requires_grad
    assert not ops.product(square(), square()).requires_grad
