"""Attention with dropout: it draws the numbers that eager draws, and keeps a byte for each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from graphs import compare, library
from graphs.allocations import held_and_peak

pytestmark = [
    pytest.mark.slow(10),
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
]

SIZES = (2, 4, 6, 8)


def tensors(dtype: torch.dtype = torch.float64, sizes: tuple[int, ...] = SIZES) -> list[Any]:
    return [torch.rand(sizes, dtype=dtype) for _ in range(3)]


def cases() -> Iterator[tuple[str, list[Any]]]:
    """A function and its arguments."""
    lower = torch.ones(6, 6, dtype=torch.bool).tril()
    lower[3] = False  # a row that attends to nothing
    for name in ("plain", "causal", "scaled", "grouped", "without"):
        yield name, tensors()
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        yield from ((name, tensors(dtype)) for name in ("plain", "causal"))
        yield from (("masked", [*tensors(dtype), mask]) for mask in (lower, lower.to(dtype)))
    for sizes in ((5, 3), (2, 5, 3), (2, 0, 3), (0, 4, 3), (3,)):
        yield "plain", tensors(sizes=sizes)
    for p in (0.0, 0.4, 1.0, 1.5):
        yield "chosen", [*tensors(), p]
    for mask in (lower, torch.rand(2, 1, 6, 6, dtype=torch.float64), lower.long(), lower.float()):
        yield "masked", [*tensors(), mask]
    yield "plain", [*tensors(torch.float32)[:2], *tensors()[2:]]


def run(function: Callable[..., Tensor], given: list[Any]) -> list[Tensor]:
    """The result and the gradients, and the random numbers after these; nothing of a call that is an error."""
    torch.manual_seed(8)
    copies = [each.clone() if isinstance(each, Tensor) else each for each in given]
    leaves = [each.requires_grad_() for each in compare.tensors(copies) if each.is_floating_point()]
    try:
        result = function(*copies)
    except (RuntimeError, IndexError):
        return []
    return [result, *torch.autograd.grad(result.sum(), leaves), torch.rand(3)]


def byte_for_each(function: Callable[..., Any], given: list[Any]) -> bool:
    """Whether a call keeps a byte for each number that it draws."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        function(*given)
    return "aten::native_dropout" in [each.key for each in profiled.key_averages()]


@pytest.mark.filterwarnings("ignore:Warning only once")  # a kernel is overridden on purpose
def test_attention_with_dropout_equals_eager_to_the_bit(sources: Callable[[str], Any]) -> None:
    ops, functions = sources("double_backward=0"), library.functions(library.SOURCES / "attention.py")
    errors = 0
    for name, given in cases():
        eager, graph = functions[name], getattr(ops, name)
        for which in compare.choices(len(compare.tensors(given))):
            assert compare.differences(eager, graph, partial(copy.deepcopy, given), which) == [], (name, given, which)
        expected, found = run(eager, given), run(graph, given)
        torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
        errors += not expected
    assert errors == 4

    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)  # of every device, whatever it is called
    given = tensors(torch.bfloat16)
    expected, found = run(functions["plain"], given), run(ops.plain, given)
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)

    q, k, v = (each.requires_grad_() for each in tensors(torch.float32, (2, 4, 64, 8)))
    assert byte_for_each(ops.plain, [q, k, v])
    assert byte_for_each(ops.grouped, [q, k, v])
    assert not byte_for_each(ops.without, [q, k, v])

    def held(function: Callable[..., Tensor]) -> int:
        return held_and_peak(lambda: function(q, k, v), lambda result: None)[0]

    assert held(functions["plain"]) - held(ops.plain) == 3 * (2 * 4 * 64 * 64)
    with torch.library._scoped_library("aten", "IMPL") as kernels:  # a device that has one with dropout
        kernels.impl("_fused_sdp_choice", lambda *given, **more: 2, "CPU", allow_override=True)
        assert not byte_for_each(ops.plain, [q, k, v])
        assert held(functions["plain"]) == held(ops.plain)
