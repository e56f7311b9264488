import math

import torch
from torch import Tensor


def item(x: Tensor) -> Tensor:
    return x * x.sum().item()


def as_float(x: Tensor) -> Tensor:
    return x * float(x.sum())


def data(x: Tensor) -> Tensor:
    x.data = x * 2
    return x.data


def grad(x: Tensor) -> Tensor:
    return x.grad


def requires(x: Tensor) -> Tensor:
    return x.requires_grad_()


def requires_attribute(x: Tensor) -> Tensor:
    x.requires_grad = True
    return x


def backward(x: Tensor) -> Tensor:
    x.sum().backward()
    return x


def resized(x: Tensor) -> Tensor:
    return x.resize_(2, 2)


def list_index(x: Tensor) -> Tensor:
    return x[["a", 1]]


def text_index(x: Tensor) -> Tensor:
    return x["a"]


def two_ellipses(x: Tensor) -> Tensor:
    return x[..., 0, ...]


def attribute_of_number(x: Tensor, n: int) -> Tensor:
    return x * n.real


def unpacked_number(x: Tensor, n: int) -> Tensor:
    a, b = n
    return x * a


def too_many_names(x: Tensor) -> Tensor:
    a, b, c = x.max(dim=1)
    return a


def no_such_item(x: Tensor) -> Tensor:
    return x.max(dim=1)[2]


def item_assigned(x: Tensor) -> Tensor:
    s = [1, 2]
    s[0] = 3
    return x


def shifted_too_far(x: Tensor) -> Tensor:
    return x * (1 << 10**9)


def divided_by_zero(x: Tensor) -> Tensor:
    return x * (1 // 0.0)


def complex_power(x: Tensor) -> Tensor:
    return x * (-2.0) ** 0.5


def logarithm_to_a_base(x: Tensor, s: float) -> Tensor:
    return x * math.log(s, 2)


def either_as_index(x: Tensor, n: int) -> Tensor:
    return x[max(n, 1.5)]


def either_as_tensor(n: int | float) -> Tensor:
    return torch.tensor(n)


def dim_of_either(x: Tensor, n: int | float) -> Tensor:
    return x.size(n) * x
