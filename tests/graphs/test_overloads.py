"""The reader resolves each call to the same overload as PyTorch, by the pre-dispatch graphs of `make_fx`."""

from __future__ import annotations

import importlib.util
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch_seed import seed_torch

from gradmill.extensions.graphs import traits
from graphs import expressions
from graphs.reading import Reading

# Cases that call other operators than PyTorch, and why the result is the same.
OTHERWISE = {
    "x.contiguous()": "the graph decides at run time; PyTorch knows that this tensor is contiguous",
    "torch.tensor(2.0)": "PyTorch makes the tensor before the graph, and copies it",
    "x[0] += 1": "PyTorch copies the view into itself afterwards",
    "x[0] = 2.0": "PyTorch makes a tensor of the number",
    "x[1:, 0] = 3": "PyTorch makes a tensor of the number",
    "x[b] = 0.5": "PyTorch makes the tensor of the number before the graph",
    "x[...] = 1.0": "PyTorch makes a tensor of the number",
}

CASES = [(f"e{at}", text) for at, text in enumerate(expressions.expressions())]
CASES += [(f"s{at}", text) for at, text in enumerate(expressions.statements())]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reading, dict[str, Callable[..., Any]]]:
    """All cases, read and loaded."""
    folder = tmp_path_factory.mktemp("expressions")
    path = folder / "expressions.py"
    path.write_text(expressions.source())
    spec = importlib.util.spec_from_file_location("expressions_loaded", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Reading(path, "torch"), vars(module)


def traced(function: Callable[..., Any]) -> list[str]:
    """The operators that PyTorch calls."""
    seed_torch(0)
    x, y = (torch.rand(4, 6, dtype=torch.float64) + 0.1 for _ in range(2))
    m = torch.rand(6, 6, dtype=torch.float64) + torch.eye(6)
    i, i4 = torch.tensor([0, 2, 1]), torch.arange(4)
    run = lambda x, y, m, i, i4, b: function(x, y, m, i, i4, b, 2, 0.5)  # noqa: E731
    graph = make_fx(run, pre_dispatch=True)(x, y, m, i, i4, x > 0.5).graph
    targets = [str(node.target).removesuffix(".default") for node in graph.nodes if node.op == "call_function"]
    return [name for name in targets if "getitem" not in name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "text"), CASES, ids=[text for _, text in CASES])
def test_a_call_resolves_to_the_overload_of_pytorch(
    name: str, text: str, read: tuple[Reading, dict[str, Callable[..., Any]]]
) -> None:
    reading, functions = read
    same = reading.operators(name) == traced(functions[name])
    assert same != (text in OTHERWISE), (reading.operators(name), traced(functions[name]))


def test_all_cases_are_read(read: tuple[Reading, dict[str, Callable[..., Any]]]) -> None:
    assert read[0].report == ""


def takes_numbers(name: str) -> bool:
    """Whether a function of torch, all of whose overloads begin with a tensor, takes numbers for all of its tensors."""
    packet = getattr(torch.ops.aten, name, None)
    if packet is None or not isinstance(getattr(torch, name), types.BuiltinFunctionType):
        return False
    every = [getattr(packet, overload) for overload in packet.overloads()]
    schemas = [each._schema.arguments for each in every if torch._C._dispatch_has_kernel(each.name())]
    if any(not each or str(each[0].type) != "Tensor" for each in schemas):
        return False
    for schema in schemas:
        required = [a for a in schema if not a.has_default_value() and not a.kwarg_only]
        if all(str(a.type) == "Tensor" for a in required):
            with suppress(TypeError, RuntimeError):
                getattr(torch, name)(*[2.0] * len(required))
                return True
    return False


@pytest.mark.filterwarnings("ignore")
def test_the_functions_that_take_numbers_for_tensors_are_those_of_pytorch() -> None:
    """The parser has one rule for a function and its in-place variant; `copy` and `to` are not functions of torch."""
    names = {name.removeprefix("aten::") for name in traits.TAKE_NUMBERS}
    functions = {name for name in names if not name.endswith("_")} - {"copy", "to", "_to_copy"}
    assert {name for name in dir(torch) if takes_numbers(name)} == functions
