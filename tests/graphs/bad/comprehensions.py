import math

import torch
import torch.nn.functional as F
from torch import Tensor


def listed(xs: list[Tensor]) -> Tensor:
    return torch.cat([x * 2 for x in xs])


def by_name(x: Tensor) -> Tensor:
    d = {"x": x}
    return d["x"]


def inner(x: Tensor) -> Tensor:
    def double(y):
        return y * 2

    return double(x)


def anonymous(x: Tensor) -> Tensor:
    return (lambda y: y * 2)(x)


def walrus(x: Tensor) -> Tensor:
    return (y := x * 2) + y


def formatted(x: Tensor, n: int) -> Tensor:
    return x.sum(f"{n}")


def spread(xs: list[Tensor]) -> Tensor:
    return torch.cat([*xs, xs[0]])


def starred(xs: list[Tensor]) -> Tensor:
    first, *rest = xs
    return first


def keywords(x: Tensor, y: Tensor) -> Tensor:
    return torch.add(x, **{"other": y})
