"""Numbers of Python, computed when a graph runs: ints and floats keep their types."""

import math

import torch.nn.functional as F
from torch import Tensor


def at_least_one_and_a_half(x: Tensor, i: Tensor, n: int) -> tuple[Tensor, Tensor, int | float]:
    """An int, or a float: the dtype of `i * most` follows."""
    most = max(n, 1.5)
    return x * most, i * most, most


def of_either(x: Tensor, n: int | float) -> tuple[Tensor, float, bool, int | float]:
    doubled = (n + 1) * 2
    return x.sin() * doubled, math.log(doubled), doubled <= 5, -doubled // 4


def in_place_of_a_float(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    eps = max(n, 1e-3)
    return F.rms_norm(x, (6,), eps=eps), F.elu(x, eps)


def flags(x: Tensor, n: int, k: int, on: bool) -> tuple[Tensor, int, bool, bool, bool]:
    return x * (n & k | 1 << k ^ ~n >> 1), n | k, not on, on & (n > k), bool(n)


def most_of_three(x: Tensor, a: int, b: int, c: int) -> tuple[Tensor, int]:
    return x.narrow(0, 0, min(a, b, c)) * max(a, b, c), max((a, b, c))


def first_row_set(x: Tensor, n: int | float) -> Tensor:
    y = x * 2
    y[0] = n * 2
    return y


def loss_by_name(x: Tensor, y: Tensor, reduction: str) -> tuple[Tensor, Tensor]:
    return F.mse_loss(x, y, reduction=reduction), F.smooth_l1_loss(x, y, reduction=reduction)


def divergence_by_name(x: Tensor, y: Tensor, reduction: str) -> Tensor:
    return F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction=reduction)


def losses_by_name(x: Tensor, y: Tensor, reduction: str) -> tuple[Tensor, Tensor]:
    one = F.gaussian_nll_loss(x, y, y * y, reduction=reduction)
    return one, F.multilabel_soft_margin_loss(x, y.gt(0).to(x.dtype), reduction=reduction)


def rounded_to_digits(x: Tensor, s: float, n: int) -> Tensor:
    return x * round(s, 2) + round(n, -1) * round(s * 1000, -n)
