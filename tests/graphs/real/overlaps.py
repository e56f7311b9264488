"""Writes that read the same memory: some overlaps are eager's errors, others are computed."""

from typing import Annotated

import torch
from torch import Tensor


def shifted(x: Tensor) -> Tensor:
    y = x * 1
    y[1:] = y[:-1]
    return y


def input_shifted(x: Tensor) -> Tensor:
    x[1:] = x[:-1]
    return x * 2


def parts_apart(x: Tensor) -> Tensor:
    y = x * 1
    y[:2].mul_(y[2:])
    y[0].copy_(y[3])
    return y


def halves(x: Tensor) -> Tensor:
    y = (x * 1).t()
    a, b = y.chunk(2)
    a.sub_(b)
    return y


def of_a_copy(x: Tensor) -> Tensor:
    y = x * 1
    a = y.t().reshape(-1)
    a[1:].mul_(a[:-1])
    return y


def of_a_view(x: Tensor) -> Tensor:
    y = x * 1
    a = y.reshape(-1)
    a[1:].mul_(a[:-1])
    return y


def a_copy_and_its_source(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 1
    a = y.t().reshape(-1)
    a[1:7].mul_(y[0])
    return a, y


def transposed_in_place(x: Tensor) -> Tensor:
    y = x * 1
    y.t_()
    y.t()[1:].mul_(y.t()[:-1])
    return y


def third_argument(x: Tensor) -> Tensor:
    y = x * 1
    y[1:].addcmul_(x[1:], y[:-1])
    return y


def put_at_indices(x: Tensor) -> Tensor:
    y = x * 1
    y[torch.arange(2)] = y[:2]
    return y


def scattered_from_rows(x: Tensor) -> Tensor:
    y = x * 1
    y[:2].scatter_(0, torch.zeros(2, 6, dtype=torch.int64), y[2:])
    return y


def product_of_rows(x: Tensor) -> Tensor:
    """Of two rows: a kernel without a check, of parts that are apart."""
    y = x * 1
    y[0, :4].addmv_(x[:, :4], y[1, :4])
    return y


def inputs_that_overlap(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    x.mul_(y)
    return x * 1


def joined_into_itself(x: Tensor) -> Tensor:
    y = x * 1
    torch.cat([y[0], y[1]], out=y[1:3].view(-1))
    return y


def reduced_into_itself(x: Tensor) -> Tensor:
    y = x * 1
    return y.scatter_reduce_(0, torch.zeros_like(y).long(), y[:], "sum")


def expanded_filled_by_a_tensor(x: Tensor) -> Tensor:
    """One value for all, but of a tensor: eager refuses it."""
    y = x * 1
    y[0].expand(3, -1).fill_(x[1, 1])
    return y
