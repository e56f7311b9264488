"""Compares PyTorch's `aot_function` with eager on every function of the suite: docs/graphs.md lists all differences.

Graphs and AOTAutograd are compared with eager in the same way, so the table also lists how graphs and AOTAutograd
differ.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from project import ROOT
from torch._functorch.aot_autograd import aot_function
from torch._functorch.compilers import nop

from graphs import compare, library
from graphs.samples import samples

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SUITE = ROOT / "specs" / "core" / "graphs"
HEADING = "## Where AOTAutograd differs from eager"

# A pattern of the comparison's message, and the label of the row in the table. The first match counts.
KINDS = {
    r"eager: RuntimeError: a (view of a )?leaf Variable that requires grad is being used in an in-place": "a leaf",
    r"eager: no error; graph: RuntimeError: one of the variables needed .* modified by an inplace": "refused early",
    r"eager: no error; graph: RuntimeError: derivative for .* is not implemented": "refused early",
    r"eager: no error; graph: RuntimeError: more than one element of the written-to tensor": "refused early",
    r"eager: RuntimeError: unsupported operation: more than one element .*; graph: no error": "not refused",
    r"eager: no error; graph: RuntimeError: Output \d+ of CompiledFunction is a view": "a view that cannot be used",
    r"backward of [^:]+: eager none; graph: RuntimeError: one of the variables .* modified": "refused in the backward",
    r"eager: no error; graph: AssertionError: ": "another error",
    r"values of tensor": "other values",
    r"gradient of leaf \d+ by tensor \d+: None tensor": "zeros",
    r"gradient of leaf": "another gradient",
    r"moved: ": "versions",
    r"same: ": "identity",
    r"tensor \d+: .*, (True|False)\) .*, (True|False)\)": "is_leaf",
}


def differing() -> Iterator[tuple[str, str]]:
    """Each difference: its kind, and the function."""
    for path in sorted(SUITE.glob("*.py")):
        for name, function in library.functions(path).items():
            for message in messages(function):
                kind = next((kind for pattern, kind in KINDS.items() if re.match(pattern, message)), message)
                yield kind, name


def messages(function: Callable[..., Any]) -> Iterator[str]:
    """The first difference for each of a function's samples, without gradients, with leaves, and with other inputs."""
    for make in samples(function):
        count = len(compare.tensors(make()))
        for which in ("plain", "leaf", "inner"):
            yield from compare.differences(function, aot_function(function, nop), make, [which] * count)[:1]


def documented() -> dict[str, set[str]]:
    """The functions of each row of the table, by kind."""
    table = (ROOT / "docs" / "graphs.md").read_text().partition(HEADING)[2].partition("\n## ")[0]
    rows = [line.strip("| ").split("|") for line in table.splitlines() if line.startswith("| ")]
    return {kind.strip(): set(re.findall(r"`(\w+)`", names)) for kind, _, names, *_ in rows[1:]}


@pytest.mark.slow(45)
def test_the_table_lists_all_differences_of_aot_function_and_eager() -> None:
    differences = defaultdict(set)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for kind, name in differing():
            differences[kind].add(name)
    finally:
        torch.set_num_threads(threads)
    assert dict(differences) == documented()


def test_an_input_that_the_call_wrote_to_has_its_gradient_before_the_call_only_there_too() -> None:
    """As graphs: `test_node.py` has the same test of these."""
    before = torch.ones(3, requires_grad=True)
    x = before * 1
    out = aot_function(lambda x: x.mul_(2).sum() * 1, nop)(x)
    (grad,) = torch.autograd.grad(out, before, retain_graph=True)
    assert torch.equal(grad, torch.full((3,), 2.0))
    assert torch.autograd.grad(out, x, allow_unused=True) == (None,)


def test_a_partial_overlap_in_a_write_is_computed_there() -> None:
    """Graphs refuse it, as eager does."""
    x = torch.arange(4.0)
    aot_function(lambda x: x[1:].copy_(x[:-1]), nop)(x)
    assert x.tolist() == [0.0, 0.0, 1.0, 2.0]
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[1:].copy_(x[:-1])
