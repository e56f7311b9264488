"""Composite operators of what is written to afterwards, by the graph or by its caller."""

import torch
from torch import Tensor


def product(x: Tensor, y: Tensor) -> Tensor:
    z = x.multiply(y)
    x.add_(1)
    y.mul_(2)
    return z


def rows(x: Tensor, y: Tensor) -> Tensor:
    z = x[0].multiply(y.t()[:, 1])
    x.exp_()
    return z


def listed(x: Tensor, y: Tensor) -> Tensor:
    z = torch.einsum("ij,kj->ik", [x, y])
    x.sin_()
    return z


def perhaps_flat(x: Tensor, y: Tensor) -> Tensor:
    z = x.reshape(-1).multiply(y.reshape(-1))
    x.cos_()
    return z


def of_a_view(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x, torch.einsum("ij,kj->ik", [x.t()[1:].t(), y[:, 1:]])


def of_items(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    one, other = x[:2].unbind(0)
    return x, torch.einsum("i,i,ki->k", [one, other, y])


def of_a_list(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x, torch.linalg.multi_dot(x[:, :4].expand(2, 4, 4).unbind(0)) @ y


def of_a_result(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 2
    return z, torch.einsum("ij,kj->ik", [z[1:], y])


def of_a_part_of_a_result(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 2
    return z[1:], torch.einsum("ij,kj->ik", [z[2:], y])


def of_an_item(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    one, other = torch._foreach_exp([x, y])
    return one, one * 2 + other


def of_a_given_list(xs: list[Tensor], y: Tensor) -> tuple[Tensor, Tensor]:
    squares = torch._foreach_mul(xs, xs)
    return xs[0] * 1, squares[0] * y


def perhaps_returned(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 2
    part = z[:, 1:].flatten()
    part.exp_()
    z.add_(1)
    return part, part.sum() * y
