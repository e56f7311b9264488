import torch
from torch import Tensor


def listed(xs: list[Tensor]) -> Tensor:
    return torch.cat([x * 2 for x in xs])


def inner(x: Tensor) -> Tensor:
    def double(y):
        return y * 2

    return double(x)


def anonymous(x: Tensor) -> Tensor:
    return (lambda y: y * 2)(x)


def spread(xs: list[Tensor]) -> Tensor:
    return torch.cat([*xs, xs[0]])


def keywords(x: Tensor, y: Tensor) -> Tensor:
    return torch.add(x, **{"other": y})
