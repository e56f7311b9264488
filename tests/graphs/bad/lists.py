import torch
from torch import Tensor


def list_written(x: Tensor, y: Tensor) -> Tensor:
    torch._foreach_exp_([x, y])
    return x


def listed(xs: list[Tensor]) -> None:
    torch._foreach_exp_(xs)
