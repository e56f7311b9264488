"""What autograd refuses of views and in-place operators, what no_grad and detach do, and hooks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.autograd import grad

from views.graphs import chain, leaf, name, nexts, same
from views.kernels import Ops

SEVERAL: dict[str, Callable[[Tensor], tuple[Tensor, ...]]] = {
    "unbind": lambda b: b.unbind(0),
    "split": lambda b: b.split(1),
    "split_with_sizes": lambda b: b.split([1, 2]),
    "chunk": lambda b: b.chunk(2),
}


@pytest.mark.parametrize("views", SEVERAL.values(), ids=SEVERAL)
def test_one_of_several_outputs_is_refused(ops: Ops, views: Callable[[Tensor], tuple[Tensor, ...]]) -> None:
    b = leaf(3, 2).clone()
    x, other = views(b)[:2]
    with pytest.raises(RuntimeError, match="is the output of a function that returns multiple views"):
        ops.mul_(x, 2)
    assert b._version == 0 and chain(b.grad_fn) == ["CloneBackward0", "AccumulateGrad"]
    z = other.view(-1)  # and so is a view of one
    with pytest.raises(RuntimeError, match="is the output of a function that returns multiple views"):
        ops.mul_(z, 2)


def test_one_of_several_outputs_is_refused_a_history_when_the_base_changes(ops: Ops) -> None:
    b = leaf(3, 2).clone()
    x, _, _ = b.unbind(0)
    ops.mul_(b, 2)
    with pytest.raises(RuntimeError, match="and its base or another view of its base has been modified inplace"):
        x.sum()


def test_a_leaf_is_refused(ops: Ops) -> None:
    t = leaf(2, 3)
    with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad is being used"):
        ops.mul_(t, 2)
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad is being used"):
        ops.copy_(t[0], leaf(3))
    assert t._version == 0


def test_a_view_made_without_gradients_is_refused(ops: Ops) -> None:
    b = leaf(2, 3).clone()
    with torch.no_grad():
        x = b[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        ops.mul_(x, 2)


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


def test_without_gradients_there_is_a_version_and_no_history(ops: Ops) -> None:
    t = leaf(2, 3)
    b = t.clone()
    x = b[0]
    old = b.grad_fn
    with torch.no_grad():
        ops.mul_(x, 2)
        ops.copy_(b[1], x)
    assert b.grad_fn is old and b._version == 2
    assert name(x.grad_fn) == "AsStridedBackward0" and nexts(x.grad_fn)[0] is old
    assert same(grad(b.sum(), [t]), [torch.ones_like(t)])


def test_in_inference_mode_there_is_neither(ops: Ops) -> None:
    with torch.inference_mode():
        b = torch.ones(2, 3)
        ops.mul_(b[0], 2)
        ops.copy_(b[1], b[0])
    assert b.tolist() == [[2.0] * 3] * 2 and b.is_inference()


def test_what_was_detached_shares_the_version_and_no_history(ops: Ops) -> None:
    t, y = leaf(2, 3), leaf(3, seed=2)
    b = t.clone()
    square = b * b
    d = b.detach()
    assert d._base is None and d.grad_fn is None
    old = b.grad_fn
    ops.mul_(d[0], y)
    assert name(d.grad_fn) == "CopySlices" and nexts(d.grad_fn)[0] is None
    assert b.grad_fn is old and b._version == d._version == 1
    assert same(grad(d.sum(), [y]), [t.detach()[0]])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()


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


def test_hooks_stay_with_the_value_they_were_set_on(ops: Ops) -> None:
    t = leaf(2, 3)
    seen: dict[str, Tensor] = {}

    def see(key: str) -> Callable[[Tensor], None]:
        return lambda g: seen.update({key: g.clone()})

    b = t.clone()
    x = b[0]
    b.register_hook(see("b before"))
    x.register_hook(see("x before"))
    ops.mul_(x, 2)
    b.register_hook(see("b after"))
    x.register_hook(see("x after"))
    (b.sum() + 3 * x.sum()).backward()
    tensor = torch.tensor
    assert sorted(seen) == ["b after", "b before", "x after"]  # the view before has no consumer
    assert seen["x after"].tolist() == [3.0] * 3
    assert torch.equal(seen["b after"], tensor([[4.0] * 3, [1.0] * 3], dtype=torch.float64))
    assert torch.equal(seen["b before"], tensor([[8.0] * 3, [1.0] * 3], dtype=torch.float64))


def test_hooks_may_change_the_gradient_on_both_sides(ops: Ops) -> None:
    t = leaf(2, 3)
    b = t.clone()
    b.register_hook(lambda g: g * 10)
    ops.mul_(b[0], 2)
    b.register_hook(lambda g: g + 1)
    b.sum().backward()
    assert t.grad is not None and t.grad.tolist() == [[40.0] * 3, [20.0] * 3]


def test_a_retained_gradient_is_that_of_the_last_value(ops: Ops) -> None:
    t = leaf(2, 3)
    b = t.clone()
    x = b[0]
    b.retain_grad()
    x.retain_grad()
    ops.mul_(x, 2)
    ops.add_(x, 1)
    (b.sum() + 3 * x.sum()).backward()
    assert b.grad is not None and b.grad.tolist() == [[4.0] * 3, [1.0] * 3]
    assert x.grad is not None and x.grad.tolist() == [3.0] * 3
    assert t.grad is not None and t.grad.tolist() == [[8.0] * 3, [1.0] * 3]


def test_a_retained_gradient_moves_without_a_view_too(ops: Ops) -> None:
    t = leaf(3)
    b = t.clone()
    b.retain_grad()
    b.register_hook(lambda g: g * 10)
    ops.mul_(b, 2)
    b.sum().backward()
    assert b.grad is not None and b.grad.tolist() == [1.0] * 3
    assert t.grad is not None and t.grad.tolist() == [20.0] * 3


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
