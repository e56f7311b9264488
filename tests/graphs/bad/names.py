import math

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

TABLE = {"a": 1}
WEIGHTS = torch.tensor([1.0, 2.0])
LARGE = 2**70
DOUBLE_LARGE = LARGE * 2
COUNTED = 1
COUNTED += 1


def unknown_operator(x: Tensor) -> Tensor:
    return torch.expp(x)


def unknown_method(x: Tensor) -> Tensor:
    return x.multiply_by(2)


def unknown_name(x: Tensor) -> Tensor:
    return x * scale


def misspelt(weight: Tensor) -> Tensor:
    return wieght * 2


def printed(x: Tensor) -> Tensor:
    print(x)
    return x


def builtin(x: Tensor) -> Tensor:
    return sum(x)


def other_function(x: Tensor) -> Tensor:
    return misspelt(x)


def module_as_value(x: Tensor) -> Tensor:
    return x * torch


def no_module_of_ours(x: Tensor) -> Tensor:
    return math.sin(x)


def unknown_overload(x: Tensor) -> Tensor:
    return torch.ops.aten.add.Tensr(x, x)


def unknown_namespace(x: Tensor) -> Tensor:
    return torch.ops.mine.cube(x)


def unknown_attribute(x: Tensor) -> Tensor:
    return x.shap[0] * x


def dictionary_of_the_file(x: Tensor) -> Tensor:
    return x * TABLE["a"]


def tensor_of_the_file(x: Tensor) -> Tensor:
    return x * WEIGHTS


def large_number_of_the_file(x: Tensor) -> Tensor:
    return x * DOUBLE_LARGE


def assigned_again(x: Tensor) -> Tensor:
    return x * COUNTED


def checkpointed(x: Tensor) -> Tensor:
    return checkpoint(torch.sin, x, use_reentrant=False)


def function_as_value(x: Tensor) -> Tensor:
    return torch.sin
