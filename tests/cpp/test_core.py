"""The core Nodes, compiled, in graphs that torch's engine runs: what they compute is what torch's own compute."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'gradmill[test]'")

from cpp import cases, compare, extension  # noqa: E402
from cpp.node_kinds import Kind  # noqa: E402

WANTED = 60
CASES = cases.cases()
NAMES = [f"{case.node}-{number}" for number, case in enumerate(CASES)]

# Not compared: torch has no operator of this name, or none that gives a gradient to compare with.
NOT_COMPARED = {
    "GeqrfBackward0": "not implemented, here and in torch",
    "WeightedNormsBackward0": "an operator of the core spec set that has no formula",
    "SumBackwardAutogradNestedTensor0": "of nested tensors",
}
# Saved before the operator changes them; ours are of tensors that it does not get to see.
CHANGED_IN_PLACE = {"_saved_running_mean", "_saved_running_var"}


class Core:
    """The extension, and what is known of its Nodes."""

    def __init__(self, folder: Path) -> None:
        self.kinds: dict[str, Kind] = extension.build(folder)
        self.module: Any = extension.load(folder)

    def is_ours(self, node: Any, name: str) -> bool:
        """Whether a Node is of our class. Upstream makes no Python type for the synthesized foreach Nodes."""
        own = getattr(self.module, name, None)
        return node.name() == name and (own is None or type(node) is own)

    def pair(self, case: cases.Case) -> compare.Pair:
        return compare.pair(self.module, self.kinds[case.node], case)


@pytest.fixture(scope="session")
def core(core_nodes: Path) -> Core:
    return Core(core_nodes)


def one_case(node: str) -> cases.Case:
    return next(case for case in CASES if case.node == node)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_gradients_are_torchs(core: Core, case: cases.Case) -> None:
    pair = core.pair(case)
    assert [t.requires_grad for t in pair.ours.outputs] == [t.requires_grad for t in pair.torchs.outputs]
    assert core.is_ours(pair.ours.node, case.node)
    first, second = compare.gradients(pair.ours, pair.leaves, second=not case.first_only)
    wanted_first, wanted_second = compare.gradients(pair.torchs, pair.leaves, second=not case.first_only)
    for actual, wanted in itertools.chain(zip(first, wanted_first), zip(second, wanted_second)):
        torch.testing.assert_close(actual.to_dense(), wanted.to_dense(), rtol=1e-6, atol=1e-8)


def test_all_nodes_are_compared_but_for_known_ones(core: Core) -> None:
    compared = {case.node for case in CASES}
    assert core.kinds.keys() - compared == NOT_COMPARED.keys()
    assert len(compared) >= WANTED
    assert set(core.module.names()) == core.kinds.keys()


def test_every_sort_of_node_is_compared(core: Core) -> None:
    sorts: dict[str, Callable[[Kind], bool]] = {
        "several inputs": lambda kind: len(kind.inputs) > 1,
        "a mask": lambda kind: any("grad_input_mask" in d["formula"] for d in kind.row["derivatives"]),
        "foreach lists": lambda kind: kind.operator.startswith("_foreach_"),
        "saved outputs": lambda kind: bool(kind.row["all_saved_outputs"]),
        "optional tensors": lambda kind: any("optional<at::Tensor" in s["type"] for s in kind.row["all_saved_inputs"]),
        "named gradients": lambda kind: bool(kind.row["used_named_gradients"]),
        "several outputs": lambda kind: len(kind.outputs) > 1,
        "in place": lambda kind: kind.in_place,
    }
    compared = [core.kinds[case.node] for case in CASES]
    assert not [name for name, is_one in sorts.items() if not any(map(is_one, compared))]


def test_second_backward_gives_torchs_error(core: Core) -> None:
    pair = core.pair(one_case("ExpBackward0"))
    messages = []
    for graph in (pair.ours, pair.torchs):
        graph.roots[0].sum().backward()
        with pytest.raises(RuntimeError) as error:
            graph.roots[0].sum().backward()
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert "backward through the graph a second time" in messages[0]


def test_second_backward_of_a_list_gives_torchs_error(core: Core) -> None:
    pair = core.pair(one_case("ForeachMulBackward0List"))
    messages = []
    for graph in (pair.ours, pair.torchs):
        torch.autograd.backward([root.sum() for root in graph.roots])
        with pytest.raises(RuntimeError) as error:
            torch.autograd.backward([root.sum() for root in graph.roots])
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_graph_that_is_retained_runs_again(core: Core) -> None:
    pair = core.pair(one_case("IndexPutBackward0"))
    for graph in (pair.ours, pair.torchs):
        once = torch.autograd.grad(graph.roots[0].sum(), pair.leaves, retain_graph=True)
        again = torch.autograd.grad(graph.roots[0].sum(), pair.leaves)
        assert all(torch.equal(a, b) for a, b in zip(once, again))


def test_saved_tensors_are_seen_by_hooks(core: Core) -> None:
    """As many as torch packs, with the same values; and backward computes with what the hook gives back."""
    for node in ("MulBackward0", "ExpBackward0", "ForeachMulBackward0List", "ConvolutionBackward0"):
        packed: list[torch.Tensor] = []

        def pack(tensor: torch.Tensor, packed: list[torch.Tensor] = packed) -> torch.Tensor:
            packed.append(tensor.detach().clone())
            return tensor

        case = one_case(node)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor * 2):
            pair = core.pair(case)
        mine, theirs = packed[: len(packed) // 2], packed[len(packed) // 2 :]
        assert mine and sorted(t.sum().item() for t in mine) == sorted(t.sum().item() for t in theirs)
        mine_first, _ = compare.gradients(pair.ours, pair.leaves, second=False)
        theirs_first, _ = compare.gradients(pair.torchs, pair.leaves, second=False)
        for mine_one, theirs_one in zip(mine_first, theirs_first):
            torch.testing.assert_close(mine_one, theirs_one)


def test_saved_tensors_are_freed_by_backward(core: Core) -> None:
    """The saved copies live as long as the graph is not run, and no longer."""
    kept = weakref.WeakSet[torch.Tensor]()

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        copy = tensor.detach().clone()
        kept.add(copy)
        return copy

    for node in ("MulBackward0", "ForeachMulBackward0List", "SigmoidBackward0"):
        kind, case = core.kinds[node], one_case(node)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            graph = core.pair(case).ours
        gc.collect()
        assert kept, kind
        torch.autograd.backward([root.sum() for root in graph.roots])
        gc.collect()
        assert graph.node.name() == node
        assert not kept, f"{node} keeps {len(kept)} tensors"


def test_python_object_shows_saved_values(core: Core) -> None:
    """Wherever torch's own Node has an attribute of the same name, ours has the same value."""
    seen = set()
    for case in CASES:
        pair = core.pair(case)
        if type(pair.torchs.node).__name__ != case.node:
            continue
        names = {name for name in dir(pair.ours.node) if name.startswith("_saved_")} - CHANGED_IN_PLACE
        for name in names & set(dir(pair.torchs.node)):
            mine, theirs = getattr(pair.ours.node, name), getattr(pair.torchs.node, name)
            assert same(mine, theirs), f"{case.node}.{name}: {mine}, not {theirs}"
            seen.add((case.node, name))
    assert len(seen) > WANTED


def test_raw_saved_tensors_are_torchs(core: Core) -> None:
    for node in ("MulBackward0", "MulBackward1", "ExpBackward0", "CosBackward0", "StackBackward0"):
        pair = core.pair(one_case(node))
        for name in dir(pair.ours.node):
            if name.startswith("_raw_saved_"):
                mine, theirs = getattr(pair.ours.node, name), getattr(pair.torchs.node, name)
                assert type(mine) is type(theirs)
    pair = core.pair(one_case("CosBackward0"))
    doubled = []
    for graph in (pair.ours, pair.torchs):
        graph.node._raw_saved_self.register_hooks(lambda tensor: tensor, lambda tensor: tensor * 2)
        doubled.append(graph.node._saved_self)
    assert torch.equal(doubled[0], doubled[1])
    assert torch.equal(doubled[0], pair.leaves[0] * 2)


def same(mine: Any, theirs: Any) -> bool:
    """Equality of tensors, numbers, names, and tuples of them."""
    if isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor):
        return mine.shape == theirs.shape and torch.equal(mine.to_dense(), theirs.to_dense())
    if isinstance(mine, tuple | list) and isinstance(theirs, tuple | list):
        return len(mine) == len(theirs) and all(same(a, b) for a, b in zip(mine, theirs))
    return bool(mine == theirs)
