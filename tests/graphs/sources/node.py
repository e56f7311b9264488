"""Functions for the Node of a graph and its wrapper, with operators of the core set."""

import torch
from torch import Tensor


def product(x: Tensor, w: Tensor) -> Tensor:
    return (x * w).exp()


def doubled(x: Tensor, w: Tensor) -> Tensor:
    x.mul_(2)
    return x * w


def powers(x: Tensor) -> Tensor:
    return torch.matmul(x, x) + x.cumsum(0)


def pair(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.exp(), x.sin()


def first(xs: list[Tensor]) -> Tensor:
    return xs[0] * 2


def written_out(x: Tensor, y: Tensor) -> Tensor:
    return torch.sum(x, 1, out=y)


def counted(a: Tensor, b: Tensor, c: Tensor, xs: list[Tensor]) -> Tensor:
    c.add_(1)
    b.add_(1)
    return a * xs[0]


def layers(x: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Tensor, e: Tensor, f: Tensor) -> Tensor:
    y = (x * a).exp() * b
    return ((y * c).sin() * d * y).cos() * (e * f)


def half(x: Tensor) -> Tensor:
    return torch.polygamma(1, x)


def squares(x: Tensor, w: Tensor) -> Tensor:
    return torch.square(torch.square(x * w).neg()).sum()


def reused(x: Tensor, w: Tensor) -> Tensor:
    return ((x @ w).sin() @ w).cos() @ w


def shared(x: Tensor, w: Tensor) -> Tensor:
    total = x + w
    return total + x + w


def row(x: Tensor, w: Tensor) -> Tensor:
    return (x * w).neg()[3] * w[0]


def row_and_all(x: Tensor, w: Tensor) -> Tensor:
    y = (x * w).exp()
    return y[3] * w[0]


def two_rows(x: Tensor, w: Tensor) -> Tensor:
    y = (x * w).neg()
    return y[3] * w[0] + y.t()[4] * w[1]


def most_rows(x: Tensor, w: Tensor) -> Tensor:
    return (x * w).neg()[1:] * w[1:]


def row_and_recorded(x: Tensor, w: Tensor) -> Tensor:
    y = (x * w).neg()
    return y[3] * w[0] + torch.square(y.t()).sum()


def of_a_view(x: Tensor, w: Tensor) -> Tensor:
    return torch.square(x.t()[1:]) * torch.square(w.reshape(5, 5)[1:])


def deep(x: Tensor, w: Tensor) -> Tensor:
    x = (x * w).sin().t()
    x = x.neg().cos()
    x = (x * w).sin().t()
    x = x.neg().cos()
    x = (x * w).sin().t()
    x = x.neg().cos()
    x = (x * w).sin().t()
    x = x.neg().cos()
    x = (x * w).sin().t()
    x = x.neg().cos()
    x = (x * w).sin().t()
    x = x.neg().cos()
    return x
