"""PyTorch's own `aot_function` beside eager, on every function of the suite: where it differs, docs/graphs.md says so.

A graph is compared with eager, as AOTAutograd is here, by the same comparison. So the table in the docs is what a
reader has to know who takes one for the other.
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

# By the comparison's message: what a row of the table begins with. The first that fits counts.
KINDS = {
    r"eager: RuntimeError: a (view of a )?leaf Variable that requires grad is being used in an in-place": "a leaf",
    r"eager: no error; graph: RuntimeError: one of the variables needed .* modified by an inplace": "refused early",
    r"eager: no error; graph: RuntimeError: derivative for .* is not implemented": "refused early",
    r"eager: no error; graph: RuntimeError: more than one element of the written-to tensor": "refused early",
    r"eager: RuntimeError: unsupported operation: more than one element .*; graph: no error": "not refused",
    r"eager: no error; graph: RuntimeError: Output \d+ of CompiledFunction is a view": "a view that cannot be used",
    r"backward: eager none; graph: RuntimeError: one of the variables needed .* modified": "refused in the backward",
    r"eager: no error; graph: AssertionError: ": "an error of its own",
    r"values of tensor": "other values",
    r"gradient of leaf": "another gradient",
    r"moved: ": "versions",
    r"same: ": "identity",
    r"tensor \d+: .*, (True|False)\) .*, (True|False)\)": "is_leaf",
}


def differing() -> Iterator[tuple[str, str]]:
    """Each difference that was found: its kind, and the function."""
    for path in sorted(SUITE.glob("*.py")):
        for name, function in library.functions(path).items():
            for message in messages(function):
                kind = next((kind for pattern, kind in KINDS.items() if re.match(pattern, message)), message)
                yield kind, name


def messages(function: Callable[..., Any]) -> Iterator[str]:
    """What differs first, for each of a function's samples, without gradients, with leaves, and with other inputs."""
    for make in samples(function):
        count = len(compare.tensors(make()))
        for which in ("plain", "leaf", "inner"):
            yield from compare.differences(function, aot_function(function, nop), make, [which] * count)[:1]


def told() -> dict[str, set[str]]:
    """What the table says: by kind, the functions."""
    table = (ROOT / "docs" / "graphs.md").read_text().partition(HEADING)[2].partition("\n## ")[0]
    rows = [line.strip("| ").split("|") for line in table.splitlines() if line.startswith("| ")]
    return {kind.strip(): set(re.findall(r"`(\w+)`", names)) for kind, _, names, *_ in rows[1:]}


def test_the_table_says_where_aot_function_differs_from_eager() -> None:
    found = defaultdict(set)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for kind, name in differing():
            found[kind].add(name)
    finally:
        torch.set_num_threads(threads)
    assert dict(found) == told()
