"""Gradients of views of a part: the first is written into zeros, each further one is added to its part of the sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from graphs import compare, library

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())

ZEROS = ("aten::select_backward", "aten::diagonal_backward", "aten::slice_backward")


def make() -> list[Any]:
    return [torch.linspace(0.1, 0.9, 9, dtype=torch.float64).reshape(3, 3)]


def calls(function: Callable[[Tensor], Any]) -> Counter[str]:
    """The operators that a backward calls."""
    x = make()[0].requires_grad_()
    loss = sum(each.sum() for each in compare.tensors([function(x)]))
    assert isinstance(loss, Tensor)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        loss.backward()
    return Counter({each.key: each.count for each in profiled.key_averages()})


def check(file: str, ops: Any, zeros: dict[str, tuple[int, int]]) -> None:
    """Compares functions with eager. `zeros`: how many gradients eager and the graph write into zeros."""
    functions = library.functions(library.SOURCES / file)
    assert functions.keys() == zeros.keys()
    for name, eager in functions.items():
        graph = getattr(ops, name)
        for which in compare.choices(1):
            assert compare.differences(eager, graph, make, which) == [], name
        x, y = make()[0].requires_grad_(), make()[0].requires_grad_()
        for function, leaf in ((eager, x), (graph, y)):
            results = compare.tensors([function(leaf)])
            passed = [torch.full_like(each, 0.7) for each in results]
            torch.autograd.backward(results, passed)
            assert all(bool((each == 0.7).all()) for each in passed), name  # they are the caller's
        assert torch.equal(x.grad, y.grad), name
        assert tuple(sum(calls(each)[zero] for zero in ZEROS) for each in (eager, graph)) == zeros[name], name


@pytest.mark.slow(8)
def test_a_gradient_of_a_part_is_added_to_the_part(sources: Callable[[str], Any]) -> None:
    ops = sources("double_backward=1")
    zeros = {
        "products_of_rows": (4, 1),
        "a_row_and_all": (1, 0),
        "diagonals": (3, 1),
        "rows_of_an_output": (2, 1),
        "columns_of_a_transposed": (4, 2),
        "rows_of_a_sum": (2, 1),
    }
    check("selects.py", ops, zeros)
    x, y = make()[0].requires_grad_(), make()[0].requires_grad_()
    eager = library.functions(library.SOURCES / "selects.py")["products_of_rows"]
    for function, leaf in ((eager, x), (ops.products_of_rows, y)):
        (first,) = torch.autograd.grad(function(leaf).sum(), leaf, create_graph=True)
        (first * first).sum().backward()
    assert torch.allclose(x.grad, y.grad)


@pytest.mark.slow(8)
def test_a_gradient_of_a_slice_is_added_to_the_slice(sources: Callable[[str], Any]) -> None:
    check("slices.py", sources("double_backward=0"), {"halves": (6, 1)})


@pytest.mark.slow(8)
def test_the_gradient_of_a_view_of_all_elements_is_not_written_into_zeros(sources: Callable[[str], Any]) -> None:
    ops = sources("double_backward=1")
    zeros = dict.fromkeys(("reshaped", "moved", "chunks"), 0) | dict.fromkeys(("some_chunks", "overlapping"), 1)
    zeros |= {"reshaped_before_transposed": 0, "narrowed": 1, "complex_rows": 2}
    for name, eager in library.functions(library.SOURCES / "composites.py").items():
        graph = getattr(ops, name)
        for which in compare.choices(1):
            assert compare.differences(eager, graph, make, which) == [], name
        assert calls(graph)["aten::zero_"] == zeros[name], name
        found = []
        for function in (eager, graph):
            x = make()[0].requires_grad_()
            (first,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
            found.append((first, *torch.autograd.grad((first * first).sum(), x)))
        torch.testing.assert_close(found[1], found[0])
