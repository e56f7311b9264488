"""Gradients of views of a part: the first is written into zeros, each further one is added to its part of the sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from graphs import compare, library

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())

SELECTS = """\
import torch
from torch import Tensor


def rows(x: Tensor) -> Tensor:
    y = x * 2
    return y[0] * y[1] + y[2].exp() * y[0]


def a_row_and_all(x: Tensor) -> Tensor:
    y = x.exp()
    row = y[1] * 2
    return y * y + row


def diagonals(x: Tensor) -> Tensor:
    y = x.exp()
    return y.diagonal() * y.diagonal(0, 1, 0) + y.diagonal(1).sum()


def rows_of_an_output(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.exp()
    return y, y[0] * y[2]


def columns_of_a_transposed(x: Tensor) -> Tensor:
    y = x.exp()
    z = y.t()
    return z[0] * z[1] + y[2] * z[2]


def rows_of_a_sum(x: Tensor) -> Tensor:
    y = x.exp()
    rows = y[0] * y[1]
    return y.sum() + rows  # the first gradient is an expanded one
"""
SLICES = """\
import torch
from torch import Tensor


def halves(x: Tensor) -> Tensor:
    y = x.exp()
    return torch.cat([y[1:] * 2, y[:1] * y[-1:], y[::2] * y[:2]]) * y[0]
"""
COMPOSITES = """\
import torch
from torch import Tensor


def reshaped(x: Tensor) -> Tensor:
    y = x.exp()
    return y.reshape(9) * y.flatten() + y.t().reshape(-1) * y.unflatten(0, (3, 1)).reshape(9)


def reshaped_before_transposed(x: Tensor) -> Tensor:
    y = x.exp()
    a = y.reshape(9) * 2
    z = y.t()
    return z * z + a.sum()  # the first gradient of y is a transposed one, which only a copy can reshape


def moved(x: Tensor) -> Tensor:
    y = x.exp()
    return y.movedim(0, 1) * y.swapaxes(0, 1).sin() * y.mT


def narrowed(x: Tensor) -> Tensor:
    y = x.exp()
    return y.narrow(0, 1, 2) * y.narrow(0, 0, 2) * y[:, 1:].sum()


def chunks(x: Tensor) -> Tensor:
    a, b = x.exp().chunk(2)
    return a * b


def some_chunks(x: Tensor) -> Tensor:
    a, b = x.exp().chunk(2, 1)
    return a.sin()


def overlapping(x: Tensor) -> Tensor:
    a, b, c = x.exp().tensor_split((2, 1))
    return a.sum() * c + b.sum()


def complex_rows(x: Tensor) -> Tensor:
    y = torch.complex(x, x.sin())
    return (y[:1].adjoint() * y.mH).real.reshape(-1) * y.real.flatten()
"""
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


def check(path: Path, ops: Any, zeros: dict[str, tuple[int, int]]) -> None:
    """Compares functions with eager. `zeros`: how many gradients eager and the graph write into zeros."""
    functions = library.functions(path)
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
def test_a_gradient_of_a_part_is_added_to_the_part(tmp_path: Path) -> None:
    path = tmp_path / "selects.py"
    path.write_text(SELECTS)
    ops = library.build(path, tmp_path, "parts", "core", "double_backward=1")
    zeros = {
        "rows": (4, 1),
        "a_row_and_all": (1, 0),
        "diagonals": (3, 1),
        "rows_of_an_output": (2, 1),
        "columns_of_a_transposed": (4, 2),
        "rows_of_a_sum": (2, 1),
    }
    check(path, ops, zeros)
    x, y = make()[0].requires_grad_(), make()[0].requires_grad_()
    for function, leaf in ((library.functions(path)["rows"], x), (ops.rows, y)):
        (first,) = torch.autograd.grad(function(leaf).sum(), leaf, create_graph=True)
        (first * first).sum().backward()
    assert torch.allclose(x.grad, y.grad)


@pytest.mark.slow(8)
def test_a_gradient_of_a_slice_is_added_to_the_slice(tmp_path: Path) -> None:
    path = tmp_path / "slices.py"
    path.write_text(SLICES)
    check(path, library.build(path, tmp_path, "slices", specs="torch"), {"halves": (6, 1)})


@pytest.mark.slow(8)
def test_the_gradient_of_a_view_of_all_elements_is_not_written_into_zeros(tmp_path: Path) -> None:
    path = tmp_path / "composites.py"
    path.write_text(COMPOSITES)
    ops = library.build(path, tmp_path, "composites", "torch", "double_backward=1")
    zeros = dict.fromkeys(("reshaped", "moved", "chunks"), 0) | dict.fromkeys(("some_chunks", "overlapping"), 1)
    zeros |= {"reshaped_before_transposed": 0, "narrowed": 1, "complex_rows": 2}
    for name, eager in library.functions(path).items():
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
