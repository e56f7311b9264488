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

from gradmill.extensions.graphs.passes.keep.mincut import SINK, SOURCE, Network
from gradmill.problems.problem import SpecError
from gradmill.session.settings.variables import read_variables
from graphs import library, planning
from graphs.allocations import held_and_peak
from graphs.reading import Reading

SOURCE_FILE = """
import torch
import torch.nn.functional as F
from torch import Tensor


def perceptron(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    return F.gelu(x @ w) @ v


def normalized(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    h = x @ w
    return (h * (h.square().mean(-1, keepdim=True) + 0.001).rsqrt()).softmax(-1).mT.reshape(-1, 6) @ v


def written(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    h = x @ w
    h.relu_()
    y = h * 2
    y[:, 0] = 1.0
    return F.silu(y) @ v


def drawn(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    a = x @ w
    h = torch.native_dropout(a.exp(), 0.5, True)[0]
    return (h * torch.rand_like(a).cos()).sin() @ v


def of_inputs(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    return (x.exp() @ w).exp() @ v


def changes(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = x.cos() @ w
    x.add_(1.0)
    return y.sigmoid() @ v


def zeroed(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = x.cos() @ w
    z = x * 2
    z.zero_()
    return (y + z @ w).sigmoid() @ v


def deep(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    x = F.gelu(x @ w)
    x = F.gelu(x @ w)
    x = F.gelu(x @ w)
    x = F.gelu(x @ w)
    return x @ v
"""


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


@pytest.mark.parametrize("text", ["2", "-0.1", "nan", "half", ""])
def test_a_budget_is_a_number_from_0_to_1(text: str) -> None:
    with pytest.raises(SpecError, match=f"memory={text}") as error:
        read_variables({"memory": text})
    assert error.value.hint == "write a number from 0 to 1, such as memory=0.5"


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, str]]:
    """What the graph of a function saves with a budget."""
    folder = tmp_path_factory.mktemp("memory")
    (folder / "budget.py").write_text(SOURCE_FILE)

    def saved(name: str, memory: str, **more: str) -> dict[str, str]:
        return planning.saved(Reading(folder / "budget.py", "torch", memory=memory, **more).plan(name).backward)

    return saved


def test_cheap_calls_are_made_again_from_what_is_saved_and_from_inputs(
    plans: Callable[..., dict[str, str]],
) -> None:
    inputs = dict.fromkeys(("x", "w", "v"), "input")
    assert plans("perceptron", "1") == {**inputs, "matmul": "plain", "gelu": "plain"}
    assert plans("perceptron", "0") == {**inputs, "matmul": "plain", "gelu": "remade"}
    assert plans("of_inputs", "0") == {**inputs, "exp_1": "plain", "exp": "remade"}  # formulas use exp_1 alone


def test_a_budget_is_kept_to_with_as_few_calls_as_possible(plans: Callable[..., dict[str, str]]) -> None:
    counts = []
    for memory in ("1", "0.9", "0.7", "0.5", "0"):
        saved = list(plans("deep", memory).values())
        assert saved.count("plain") <= max(float(memory) * 8, 4)  # four products, and what gelu makes of them
        counts.append(saved.count("remade"))
    assert counts == [0, 1, 3, 4, 4]


def test_a_forward_that_autograd_records_has_no_budget(plans: Callable[..., dict[str, str]]) -> None:
    assert "remade" not in plans("perceptron", "0", double_backward="1").values()
    assert "remade" in plans("zeroed", "0", double_backward="1").values()  # cannot be differentiated twice


# ---- compiled, with a budget and without


class Net(nn.Module):
    """Batch norm in training, in-place activations, dropout, layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3)
        self.inner, self.scale, self.last = nn.Linear(64, 8), nn.LayerNorm(8), nn.Linear(8, 3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = F.silu(self.second(F.relu(self.norm(self.first(x)), inplace=True)))
        x = F.dropout(F.gelu(self.scale(self.inner(x.flatten(1)))), 0.4, training=True)
        return F.cross_entropy(self.last(x), y)


FUNCTIONS = [line.split("(")[0][4:] for line in SOURCE_FILE.splitlines() if line.startswith("def ")]
pytestmark = pytest.mark.filterwarnings("ignore")
compiled = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
]


def function(name: str, folder: Path) -> Callable[..., Tensor]:
    """A function, run by torch itself."""
    (folder / "eager.py").write_text(SOURCE_FILE)
    return library.functions(folder / "eager.py")[name]


def close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-10, atol=1e-10)


def images() -> tuple[Tensor, Tensor]:
    torch.manual_seed(2)
    return torch.randn(3, 2, 8, 8), torch.tensor([0, 2, 1])


def net() -> Net:
    torch.manual_seed(1)
    return Net()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The operators without a budget, and those that hold as little as possible."""
    folder = tmp_path_factory.mktemp("budgets")
    (folder / "graphs").mkdir()
    (folder / "graphs" / "budget.py").write_text(SOURCE_FILE)
    batch = {0: torch.export.Dim.DYNAMIC}
    torch.export.save(
        torch.export.export(net(), images(), dynamic_shapes=(batch, batch)), folder / "graphs" / "net.pt2"
    )
    built = []
    for memory in ("1", "0"):
        (folder / memory).mkdir()
        built.append(library.build(folder / "graphs", folder / memory, f"memory_{memory}", "torch", f"memory={memory}"))
    return built[0], built[1]


def leaves() -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(6, 6, dtype=torch.float64, requires_grad=True) for _ in range(3)]


def gradients(operator: Callable[..., Tensor], inputs: list[Tensor]) -> list[Tensor]:
    """The result and the gradients, of two backwards of one forward."""
    torch.manual_seed(3)
    given = [inputs[0].clone(), *inputs[1:]]  # not a leaf: some functions write to it
    result = operator(*given)
    first, second = (torch.autograd.grad(result.sum(), inputs, retain_graph=True) for _ in range(2))
    assert all(map(torch.equal, first, second))
    return [result, *first]


class TestCompiled:
    """Graphs with a budget give the bits of those without one."""

    pytestmark = compiled

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_results_and_gradients_have_equal_bits(self, name: str, both: tuple[Any, Any], tmp_path: Path) -> None:
        one, other = (gradients(getattr(ops, name), leaves()) for ops in both)
        assert all(map(torch.equal, one, other))
        if name != "changes":  # an error in eager: a formula saved what is written to
            eager = gradients(function(name, tmp_path), leaves())
            assert all(map(close, eager, other))

    @pytest.mark.parametrize("count", [3, 0])
    def test_a_network_with_batch_norm_and_dropout_has_equal_bits(self, count: int, both: tuple[Any, Any]) -> None:
        found = []
        for ops in both:
            model = net()
            torch.manual_seed(5)
            loss = ops.net(*model.parameters(), *model.buffers(), *(each[:count] for each in images()))
            loss.backward()
            found.append([loss, *(each.grad for each in model.parameters()), *model.buffers()])
        assert all(torch.allclose(one, other, 0, 0, equal_nan=True) for one, other in zip(*found, strict=True))

    def test_an_input_that_is_computed_from_again_may_not_change_before(self, both: tuple[Any, Any]) -> None:
        for ops, saves in zip(both, (False, True), strict=True):
            inputs = leaves()
            result = ops.of_inputs(*inputs)
            with torch.no_grad():
                inputs[0].add_(1)
            if not saves:  # eager, too, saved what it made of the input
                result.sum().backward()
                continue
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                result.sum().backward()

    def test_less_is_held_and_the_peak_is_lower(self, both: tuple[Any, Any]) -> None:
        inputs = [torch.randn(300, 300, requires_grad=True) for _ in range(3)]
        (held, peak), (less, lower) = (
            held_and_peak(lambda deep=ops.deep: deep(*inputs).sum(), lambda result: result.backward()) for ops in both
        )
        assert less < 0.6 * held
        assert lower < 0.85 * peak
