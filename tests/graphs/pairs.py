"""Functions of two tensors, whose dtypes may differ, with operators that the core set has too."""

import torch
from torch import Tensor


def pair_of_powers(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return x**y, (-2.0) ** y, 3**y, torch.pow(0.0, y), x**-1


def pair_of_products(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x * y, x / y, x - y


def rows(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """What is broadcast is summed, then cast."""
    return x * y[0], x + y.sum()


def selected(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(torch.eq(x, y), x, y[0])


def joined_pair(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return torch.cat([x, y]), torch.stack([x, y])


def copied(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What is copied is cast, then summed."""
    a, b, c = x * 0, x * 0, x * 0
    a.copy_(y[0])
    b.copy_(y[0, 0])
    c[1:].copy_(y[0])
    return a, b, c


def assigned(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A value without dimensions is filled in: its gradient is summed, then cast."""
    a, b, c, d = x * 0, x * 0, x * 0, x * 0
    a[:] = y[0]
    b[1:, 1:] = y[0, 0]
    c[0, 0] = y[0, 0]
    d[:, 1:] = y[None, :, 1:]
    return a, b, c, d


def multiplied(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x * 1, x * 1
    a.mul_(y[0])
    b[1:] += y[0]
    return a, b


def filled(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x * 1, x * 1
    a.masked_fill_(torch.eq(x, x[0]), y[0, 0])
    b.fill_(y[0, 0])
    return a, b


def limited(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.maximum(x, y), torch.minimum(x, y[0]), torch.clamp(x, y[0], None)


def between(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.lerp(x, x * 2, y[0]), torch.addcmul(x, y, y[0]), torch.addcdiv(x, x, y)


def vectors(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    a, b = x @ y[0], torch.matmul(x[0], y.t())
    return a, b, torch.matmul(x[0], y[0]), torch.nn.functional.linear(x, y[0]), torch.matmul(x[None], y[0])


def stacks(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return torch.matmul(x[None], y.t()[None]), torch.matmul(x[0], y.t()[None])


def angles(x: Tensor, y: Tensor) -> Tensor:
    return torch.atan2(x * 1, y * 1)
