"""Composite operators, which the graph records, on memory that it writes to later."""

import torch
from torch import Tensor


def input_squared(x: Tensor) -> Tensor:
    return x.square_()


def inputs_multiplied_then_written(x: Tensor, y: Tensor) -> Tensor:
    z = x.multiply(y)
    x.add_(1)
    y.mul_(2)
    return z


def rows_multiplied_then_written(x: Tensor) -> Tensor:
    z = x[0].multiply(x.t()[:, 1])
    x.exp_()
    return z


def listed_then_written(x: Tensor, y: Tensor) -> Tensor:
    z = torch.einsum("ij,kj->ik", [x, y])
    x.sin_()
    return z


def perhaps_the_input_multiplied_then_written(x: Tensor) -> tuple[Tensor, Tensor]:
    flat = x.reshape(-1)
    z = flat.multiply(flat)
    x.cos_()
    return z, flat
