"""A memory budget: what is computed again in place of being saved, with equal bits, and what never is."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import pytest
import torch
import torch.nn.functional as F
from cpp import toolchain
from torch import Tensor, nn

from graphs import library, planning
from graphs.allocations import held_and_peak
from graphs.reading import Reading
from pipeline.graphs.backward.mincut import SINK, SOURCE, Network
from pipeline.stages import graph_text

SOURCE_FILE = """
import torch
import torch.nn.functional as F
from torch import Tensor


def perceptron(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    return F.gelu(x @ w) @ v


def normalized(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    h = x @ w
    return (h * (h.square().mean(-1, keepdim=True) + 0.001).rsqrt()).softmax(-1).mT.reshape(-1, 5) @ v


def written(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    h = x @ w
    h.relu_()
    h[:, 0] = 1.0
    return F.silu(h.exp()) @ v


def drawn(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    a = x @ w
    h = torch.native_dropout(a.exp(), 0.5, True)[0]
    return (h * torch.rand_like(a).cos()).sin() @ v


def parts(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    a, b = (x @ w).tanh().chunk(2, 1)
    return torch.cat([a.exp(), b, a * b.sin()], 1)[:, :6] @ v


def of_inputs(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    return (x.exp() @ w).exp() @ v


def changes(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = x.cos() @ w
    x.add_(1.0)
    return y.sigmoid() @ v


def under_no_grad(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    with torch.no_grad():
        mask = (x @ w).sigmoid()
    return ((x @ w).exp() * mask).exp() @ v


def deep(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    x = F.gelu(x @ w)
    x = F.gelu(x @ w)
    x = F.gelu(x @ w)
    x = F.gelu(x @ w)
    return x @ v
"""
RANDOM = {"drawn"}
needs_compiler = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())


# ---- the minimum cut


@pytest.mark.parametrize("seed", range(20))
def test_the_cut_is_as_cheap_as_that_of_networkx(seed: int) -> None:
    rng = random.Random(seed)
    network, graph = Network(), networkx.DiGraph()
    nodes = [SOURCE, SINK, *(network.node() for _ in range(12))]
    edges = [(*rng.sample(nodes, 2), rng.randint(0, 9)) for _ in range(50)]
    graph.add_nodes_from(nodes)
    for start, end, capacity in edges:
        network.edge(start, end, capacity)
        known = graph.get_edge_data(start, end, {"capacity": 0})["capacity"]
        graph.add_edge(start, end, capacity=known + capacity)
    after = network.cut()
    cost = sum(capacity for start, end, capacity in edges if after[end] and not after[start])
    assert (after[SOURCE], after[SINK]) == (False, True)
    assert cost == networkx.minimum_cut_value(graph, SOURCE, SINK)


# ---- plans


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], dict[str, str]]:
    """What the graph of a function saves with a budget."""
    folder = tmp_path_factory.mktemp("memory")
    (folder / "budget.py").write_text(SOURCE_FILE)

    def saved(name: str, memory: str) -> dict[str, str]:
        reading = Reading(folder / "budget.py", folder / "cache", "torch", memory=memory)
        plan = graph_text.plan(reading.build.db, "budget.py", name)
        assert plan is not None, reading.report
        reading.build.commit()
        reading.build.close()
        return planning.saved(plan.backward)

    return saved


def test_cheap_calls_are_made_again_from_what_is_saved_and_from_inputs(
    plans: Callable[[str, str], dict[str, str]],
) -> None:
    inputs = dict.fromkeys(("x", "w", "v"), "input")
    assert plans("perceptron", "1") == {**inputs, "matmul": "plain", "gelu": "plain"}
    assert plans("perceptron", "0") == {**inputs, "matmul": "plain", "gelu": "remade"}
    assert plans("of_inputs", "0") == {**inputs, "exp_1": "plain", "exp": "remade"}  # formulas use exp_1 alone


def test_what_draws_random_numbers_is_not_called_again(plans: Callable[[str, str], dict[str, str]]) -> None:
    saved = plans("drawn", "0")
    assert {name for name, how in saved.items() if how == "plain"} == {"exp", "native_dropout_1", "cos"}  # 1: the mask
    assert {name for name, how in saved.items() if how == "remade"} == {"native_dropout", "mul", "sin"}


def test_a_budget_is_kept_to_with_as_few_calls_as_possible(plans: Callable[[str, str], dict[str, str]]) -> None:
    counts = []
    for memory in ("1", "0.9", "0.7", "0.5", "0"):
        saved = list(plans("deep", memory).values())
        assert saved.count("plain") <= max(float(memory) * 8, 4)  # four products, and what gelu makes of them
        counts.append(saved.count("remade"))
    assert counts == [0, 1, 3, 4, 4]
