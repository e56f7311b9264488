"""What torch has in Python under the name of an operator is in a table, or does what the operator does."""

from __future__ import annotations

import inspect
import types

import torch

from pipeline.graphs.python.torch_functions import FUNCTIONAL, METHODS, REFUSED, TORCH

# They hand their arguments on as they are, or check them.
SAME = {
    torch.nn.functional: {
        "adaptive_avg_pool3d",
        "max_pool1d_with_indices",
        "max_pool2d_with_indices",
        "max_pool3d_with_indices",
    },
    torch.Tensor: {"istft", "unflatten"},
}
# No operators of graphs: generators, files, dimensions as objects, reading of numbers.
NONE = {"initial_seed", "manual_seed", "seed", "save", "broadcast_shapes", "backward", "index", "resize", "resize_as"}


def in_python(module: object) -> set[str]:
    """The names of an object that are functions of Python's and operators."""
    functions = {name for name in dir(module) if isinstance(inspect.getattr_static(module, name), types.FunctionType)}
    return {name for name in functions if hasattr(torch.ops.aten, name) and not name.startswith("_")} - NONE


def test_functions_of_torch_that_are_in_python_are_told() -> None:
    assert in_python(torch) - TORCH.keys() == set()


def test_functions_of_torch_nn_functional_that_are_in_python_are_told() -> None:
    module = torch.nn.functional
    refused = {path.rpartition(".")[2] for path in REFUSED}
    assert in_python(module) - FUNCTIONAL.keys() - refused - SAME[module] == set()


def test_methods_of_tensors_that_are_in_python_are_told() -> None:
    assert in_python(torch.Tensor) - METHODS.keys() - SAME[torch.Tensor] == set()
