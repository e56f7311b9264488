"""What autograd refuses of views and in-place operators, what no_grad and detach do, and hooks."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.autograd import grad

from views.graphs import leaf, same
from views.kernels import Ops


def test_a_view_made_in_inference_mode_is_refused(ops: Ops) -> None:
    b = leaf(2, 3).clone()
    with torch.inference_mode():
        x = b[0]
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace"):
        ops.mul_(x, 2)


class Identity(torch.autograd.Function):
    """A view made in a custom function."""

    @staticmethod
    def forward(ctx: object, b: Tensor) -> Tensor:
        return b.view_as(b)

    @staticmethod
    def backward(ctx: object, g: Tensor) -> Tensor:
        return g


def test_a_view_made_in_a_custom_function_is_refused(ops: Ops) -> None:
    b = leaf(2, 3).clone()
    x = Identity.apply(b)
    with pytest.raises(RuntimeError, match="Output 0 of Identity is a view and is being modified inplace"):
        ops.mul_(x, 2)


def test_in_inference_mode_there_is_neither(ops: Ops) -> None:
    with torch.inference_mode():
        b = torch.ones(2, 3)
        ops.mul_(b[0], 2)
        ops.copy_(b[1], b[0])
    assert b.tolist() == [[2.0] * 3] * 2 and b.is_inference()


def test_a_view_may_be_detached_from_its_base_and_a_base_not(ops: Ops) -> None:
    t = leaf(2, 3)
    b = t.clone()
    x = b[0]
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        x.detach_()
    ops.mul_(x, 2)
    b.detach_()
    assert b.grad_fn is None and not b.requires_grad


# ---- Hooks ----


def test_nodes_have_hooks(ops: Ops) -> None:
    t, y = leaf(2, 3), leaf(3, seed=2)
    b = t.clone()
    ops.mul_(b[0], y)
    seen: list[tuple[int, int]] = []
    b.grad_fn.register_prehook(lambda gs: (gs[0] * 2,))  # type: ignore[union-attr]
    b.grad_fn.register_hook(lambda inputs, outputs: seen.append((len(inputs), len(outputs))))  # type: ignore[union-attr]
    assert same(grad(b.sum(), [y]), [2 * t.detach()[0]])
    assert seen == [(2, 1)]


def test_saved_tensors_are_seen_by_hooks(ops: Ops) -> None:
    t, y = leaf(2, 3), leaf(3, seed=2)
    packed: list[tuple[int, ...]] = []

    def pack(tensor: Tensor) -> Tensor:
        packed.append(tuple(tensor.shape))
        return tensor

    b = t.clone()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor * 2):
        ops.mul_(b[0], y)
    assert packed == [(3,), (3,)]
    assert same(grad(b[0].sum(), [t]), [torch.stack([y.detach() * 2, torch.zeros(3, dtype=torch.float64)])])
