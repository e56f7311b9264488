"""Views of memory as another dtype: they have no history of that memory, like results of `detach`."""

import torch
from torch import Tensor


def overwritten_bits(x: Tensor, y: Tensor) -> Tensor:
    copied = x.clone()
    copied.view(torch.float32).copy_(torch.cat([y, y], 1))
    return copied * 2


def overwritten_part_of_bits(x: Tensor, y: Tensor) -> Tensor:
    copied = x * 2
    copied.view(torch.float32)[1:, :6].copy_(y[1:])
    return copied * y


def integer_bits_of_input(x: Tensor) -> Tensor:
    x.view(torch.int64).add_(1)
    return x * 2
