"""Where our Nodes do not do what those of torch 2.13.0 do: docs/contributing/views.md has the reasons."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import extension
from torch import Tensor
from torch.autograd import grad

from views.graphs import leaf, name, nodes
from views.operators import Ops

COMPILED = Path(__file__).with_name("compiled.py")


class Forget(torch.autograd.Function):
    """Changes its argument, and says nothing of its gradient: an undefined gradient is zero."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        return x.fill_(3)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> None:
        return None


def test_an_undefined_gradient_is_zero_where_the_view_is_and_nowhere_else(core_views: Ops) -> None:
    t = leaf(2, 3)
    b = t.clone()
    core_views.fill_(b[0], 3)  # its Node returns no gradient
    assert grad(b.sum(), [t])[0].tolist() == [[0.0] * 3, [1.0] * 3]
    b = t.clone()
    Forget.apply(b[0])
    assert grad(b.sum(), [t], allow_unused=True) == (None,)  # torch: those of the other elements are lost


def test_the_state_before_may_be_asked_for_its_gradient(core_views: Ops) -> None:
    def program(mul_: Any) -> tuple[Tensor, ...]:
        t, y = leaf(2, 3), leaf(3, seed=2)
        b = t.clone()
        x = b.select(0, 0)
        before = torch.autograd.graph.get_gradient_edge(x)
        used_before = x * 3
        mul_(x, y)
        return (*grad([b.sum(), used_before.sum()], [before, y]), t[0].detach())

    of_before, of_y, t0 = program(core_views.mul_)
    assert of_before.tolist() == [3.0] * 3 and torch.equal(of_y, t0)
    with pytest.raises(RuntimeError, match="INTERNAL ASSERT FAILED"):
        program(Tensor.mul_)


def test_a_retained_gradient_may_have_been_left_behind_before(core_views: Ops) -> None:
    """`t_` makes a new Node and forgets the hook, which stays with the value it was of."""

    def program(mul_: Any) -> Tensor | None:
        b = leaf(2, 3).clone()
        b.retain_grad()
        b.t_()
        mul_(b, 2)
        b.sum().backward()
        return b.grad

    text = program(core_views.mul_)
    assert text is not None and text.shape == (2, 3) and text.eq(2).all()
    with pytest.raises(RuntimeError, match="INTERNAL ASSERT FAILED"):
        program(Tensor.mul_)


@pytest.mark.parametrize("of_view", [False, True])
def test_a_retained_gradient_may_be_that_of_a_second_output(core_views: Ops, of_view: bool) -> None:
    def program(mul_: Any) -> Tensor | None:
        _, mean = torch.std_mean(leaf(3, 3), 0)
        mean.retain_grad()
        mul_(mean[:1] if of_view else mean, 2)
        mean.sum().backward()
        return mean.grad

    text = program(core_views.mul_)
    assert text is not None and text.tolist() == [1.0] * 3
    if not of_view:  # of a view, the process ends
        with pytest.raises(RuntimeError, match="INTERNAL ASSERT FAILED"):
            program(Tensor.mul_)


def test_a_graph_of_ours_has_no_such_node_of_torchs(core_views: Ops) -> None:
    b, y = leaf(2, 3).clone(), leaf(3, seed=2)
    core_views.mul_(b[0], y)
    core_views.copy_(b[1], y)
    core_views.copy_(b, y)
    actual = [node for node in nodes(b.grad_fn) if name(node).startswith("Copy")]
    assert [node.name() for node in actual] == ["gradmill::core::CopyBackwards", *["gradmill::core::CopySlices"] * 2]


def test_the_library_names_neither_class_of_torchs(core_views: Ops, core_nodes: Path) -> None:
    listed = subprocess.run(["nm", "-DC", core_nodes / extension.MODULE], check=True, capture_output=True, text=True)
    symbols = listed.stdout.splitlines()
    assert [line for line in symbols if "gradmill::core::CopySlices::apply(" in line]
    assert not [line for line in symbols if "torch::autograd::Copy" in line or "impl::rebase_history" in line]


@pytest.mark.slow
@pytest.mark.parametrize(("which", "wrong"), [("torch", ["sigmoid"]), ("core", [])])
def test_compiled_autograd_runs_both_nodes(which: str, wrong: list[str], core_views: Ops, core_nodes: Path) -> None:
    """And distinguishes operators that saved the same: torch runs the second with what it compiled for the first."""
    command = [sys.executable, str(COMPILED), which, str(core_nodes)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    programs = ("mul", "copy", "copy of all", "stacked", "exp", "sigmoid", "zero")
    assert json.loads(done.stdout.splitlines()[-1]) == {name: name not in wrong for name in programs}
