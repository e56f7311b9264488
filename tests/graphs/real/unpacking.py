"""Unpacking into a number of names: any other number of values is an error."""

import torch
from torch import Tensor


def two_computed(xs: list[Tensor]) -> Tensor:
    a, b = torch._foreach_exp(xs)
    return a * b


def two_and_one(xs: list[Tensor]) -> Tensor:
    (a, b), (c,) = xs, [xs[0]]
    return a * b + c


def last_two_sizes(x: Tensor) -> Tensor:
    rows, columns = x.shape[-2:]
    return x * rows + columns


def two_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x
    return a * b, x[0].view_as(b)


def two_places(x: Tensor) -> tuple[Tensor, Tensor]:
    rows, columns = torch.where(x > 0.5)
    return rows + columns, x[rows, columns]
