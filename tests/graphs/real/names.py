"""Names that C++, its macros or the generated functions use, or that they do not have."""

# ruff: noqa: PLC2401

import math

from torch import Tensor

WIDTH, DEPTH = 2, 3
AREA = WIDTH * DEPTH
ROOT = math.sqrt(AREA)
_LEAST = max(AREA, 2.5)
λ: float = 0.5


def auto(x: Tensor) -> Tensor:
    return x * 2


def auto_(x: Tensor) -> Tensor:
    return x * 3


def of_locals(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    needed, place, wants = x.exp(), y.exp(), x.sin()
    given, lock, released = needed * place, wants * y, place * wants
    x.mul_(2)
    below_autograd, no_grad, Edge = given * x, lock.exp() * released, released * y
    grad_of_x, next, INFINITY = x.exp() * below_autograd, no_grad * needed, Edge.exp()
    result = grad_of_x * next * INFINITY
    no_autocast = result.cos()
    return no_autocast, given


def of_members(apply: Tensor, mutex_: Tensor, node: Tensor, like_apply: Tensor, EOF: Tensor) -> Tensor:
    return apply.exp() * mutex_ * node.sin() * like_apply * EOF


def of_sizes(xs: list[Tensor], xs_size: Tensor) -> Tensor:
    return xs[0] * xs_size * xs[1] * xs_size


def of_other_letters(λ: Tensor, é: Tensor, e: Tensor, 名: Tensor) -> tuple[Tensor, Tensor]:
    """Parameters that a schema cannot name."""
    é.mul_(2)
    return λ * é.exp() - e, 名 * λ


def of_the_file(_x: Tensor, _: Tensor) -> Tensor:
    """Constants of the file, also those that are computed from others."""
    größe, _y = _x * ROOT, _ * _LEAST
    return größe * λ + _y
