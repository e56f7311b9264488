"""Python functions of torch with the name of an operator are in a table, or do the same as the operator."""

from __future__ import annotations

import inspect
import types

import torch

from gradmill.extensions.graphs.read.python.names import REFUSED, functions

# These pass their arguments on unchanged, or only check them.
SAME = {
    torch.nn.functional: {
        "adaptive_avg_pool2d",
        "adaptive_avg_pool3d",
        "glu",
        "group_norm",
        "layer_norm",
        "max_pool1d_with_indices",
        "max_pool2d_with_indices",
        "max_pool3d_with_indices",
        "pad",
        "rms_norm",
        "sigmoid",
        "tanh",
    },
    torch.Tensor: {"istft", "unflatten"},
}
# Not operators of graphs: generators, files, dimensions as objects, reading of numbers.
NONE = {"initial_seed", "manual_seed", "seed", "save", "broadcast_shapes", "backward", "index", "resize", "resize_as"}


def in_python(module: object) -> set[str]:
    """The names in a module or class that are Python functions and also operators."""
    functions = {name for name in dir(module) if isinstance(inspect.getattr_static(module, name), types.FunctionType)}
    return {name for name in functions if hasattr(torch.ops.aten, name) and not name.startswith("_")} - NONE


def test_python_functions_of_torch_are_in_the_table() -> None:
    assert in_python(torch) - functions("torch").keys() == set()


def test_python_functions_of_torch_nn_functional_are_in_the_table() -> None:
    module = torch.nn.functional
    refused = {path.rpartition(".")[2] for path in REFUSED}
    assert in_python(module) - functions("torch.nn.functional").keys() - refused - SAME[module] == set()


def test_python_methods_of_tensors_are_in_the_table() -> None:
    assert in_python(torch.Tensor) - functions("torch.Tensor").keys() - SAME[torch.Tensor] == set()
