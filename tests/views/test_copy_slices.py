"""CopySlices, and what an in-place operator does to the graph: PyTorch's note on views and in-place updates.

Note [View + Inplace update for base tensor], torch/csrc/autograd/functions/tensor.h: what random programs do not look
at, which compare values, versions, graphs, gradients, hooks and errors (test_programs.py). `t` is a leaf, `b` its
clone, `x` a view of `b`, `y` the other operand.
"""

from __future__ import annotations

import pytest
import torch
from torch.autograd import grad

from views.graphs import Calls, leaf, replayed, same
from views.operators import Ops

both_ways = pytest.mark.parametrize("replay", [False, True], ids=["strided", "replayed"])


# ---- What do we need to save? ----


def test_gradients_are_computed_out_of_place(ops: Ops) -> None:
    t, y = leaf(2, 3), leaf(3, seed=2)
    b = t.clone()
    ops.mul_(b.select(0, 0), y)
    g = torch.randn(2, 3, dtype=torch.float64)
    kept = g.clone()
    (actual,) = grad(b, [t], g)
    assert torch.equal(g, kept) and g._version == 0
    assert actual.data_ptr() != g.data_ptr()


def test_gradients_of_any_layout_come_in(ops: Ops) -> None:
    t, y = leaf(3, 3), leaf(3, seed=2)
    b = t.clone()
    ops.mul_(b.select(0, 0), y)
    for g in (torch.randn(3, 3, dtype=torch.float64).t(), torch.ones((), dtype=torch.float64).expand(3, 3)):
        gradients = grad(b, [t, y], g, retain_graph=True)
        assert same(gradients, [torch.cat([g[:1] * y, g[1:]]), g[0] * t[0]])


def test_the_geometry_of_the_base_counts_from_its_own_offset(ops: Ops) -> None:
    memory = leaf(5, 4)
    b = memory.detach().clone()[1:, 1:].detach()  # a base of its own, in the middle of a storage, and not dense
    assert b.storage_offset() == 5 and b._base is None
    y = leaf(3, seed=2)
    ops.mul_(b[1], y)
    g = torch.randn(4, 3, dtype=torch.float64)
    assert same(grad(b, [y], g), [g[1] * memory.detach()[2, 1:]])


def test_no_large_tensor_is_kept_alive(ops: Ops) -> None:
    t, y = leaf(1000, 3), leaf(3, seed=2)
    b = t * 1
    x = b.select(0, 0)
    ops.mul_(x, y.detach())
    total = b.sum()
    memory = b.untyped_storage()._weak_ref()
    del b, x
    assert torch.UntypedStorage._expired(memory)
    torch.UntypedStorage._free_weak_ref(memory)
    wanted = torch.ones_like(t)
    wanted[0] = y.detach()
    assert same(grad(total, [t]), [wanted])


@both_ways
def test_a_later_change_does_not_prevent_backward(ops: Ops, replay: bool) -> None:
    t = leaf(2, 3)
    with replayed(replay):
        b = t.clone()
        x = b.select(0, 0)
        ops.mul_(x, 2)
    before = b.clone()
    with torch.no_grad():
        b.zero_()
        x.add_(7)
    assert same(grad(before.sum(), [t], retain_graph=True), [torch.tensor([[2.0] * 3, [1.0] * 3], dtype=torch.float64)])
    b.set_(torch.zeros(1, dtype=torch.float64))  # not even its sizes
    assert same(grad(before.sum(), [t]), [torch.tensor([[2.0] * 3, [1.0] * 3], dtype=torch.float64)])


# ---- Why the wrapped Node's first edge needs a gradient only at times ----


def test_the_wrapped_node_computes_what_is_asked_for_and_no_more(ops: Ops) -> None:
    t, y = leaf(2, 3), leaf(3, seed=2)
    b = t.clone()
    x = b.select(0, 0)
    ops.mul_(x, y)
    products = []
    for inputs in ([t], [y], [t, y]):
        with Calls() as calls:
            grad(x, inputs, torch.ones(3, dtype=torch.float64), retain_graph=True)
        products.append(calls.names.count("mul"))
    assert products == [1, 1, 2]


# ---- Releasing ----


def test_backward_releases_what_the_wrapped_node_saved(ops: Ops) -> None:
    t, y = leaf(2, 3), leaf(3, seed=2)
    b = t.clone()
    factor = y * 2
    ops.mul_(b[0], factor)
    total = b.sum()
    memory = factor.untyped_storage()._weak_ref()
    del factor
    assert not torch.UntypedStorage._expired(memory)
    grad(total, [t])
    assert torch.UntypedStorage._expired(memory)
    torch.UntypedStorage._free_weak_ref(memory)


def test_a_long_history_is_dropped_without_ado(ops: Ops) -> None:
    b = leaf(4).clone()
    x = b[:2]
    for _ in range(20_000):
        ops.mul_(x, 1.0)
    del x, b
