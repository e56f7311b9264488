"""Every kind of parameter and output that a graph supports."""

import torch
from torch import Tensor


def maybe_dim(x: Tensor, d: int | None = None) -> Tensor:
    return x.argmax(d)


def maybe_saved(x: Tensor, e: float | None = None) -> Tensor:
    return torch.logit(x / 2, e)


def maybe_mode(x: Tensor, m: str | None = None) -> Tensor:
    return torch.div(x, 0.3, rounding_mode=m)


def maybe_limits(x: Tensor, lo: float | None = None, hi: int | None = None) -> Tensor:
    return x.clamp(lo, hi)


def maybe_dims(x: Tensor, d: list[int] | None = None) -> Tensor:
    return (x * x).sum(d, keepdim=True) * x


def maybe_dtype(x: Tensor, t: torch.dtype | None = None) -> Tensor:
    return x.sum(0, dtype=t)


def either(x: Tensor, n: int | float) -> tuple[Tensor, Tensor, Tensor]:
    x *= n
    return n - x, x > n, x**n


def float_item(x: Tensor, fs: list[float]) -> Tensor:
    return x * fs[0] + fs[-1]


def int_item(x: Tensor, ns: list[int]) -> Tensor:
    return x * ns[0] + x[ns[1]]


def bool_item(x: Tensor, bs: list[bool]) -> Tensor:
    return x.sum(0, keepdim=bs[0])


def str_item(x: Tensor, ms: list[str]) -> Tensor:
    return torch.div(x, 0.3, rounding_mode=ms[1]) * x


def numbers_back(
    ns: list[int], fs: list[float], n: int | None, x: Tensor
) -> tuple[list[int], list[float], int | None, Tensor]:
    return ns, fs, n, x * 2


def list_back(xs: list[Tensor]) -> list[Tensor]:
    return xs


def foreach(xs: list[Tensor]) -> list[Tensor]:
    a, b = torch._foreach_mul(xs, 2.0)
    a.mul_(3)
    return [a, b]


def norms(x: Tensor) -> Tensor:
    """The library's Node saves a list."""
    return torch.stack(torch._foreach_norm([x, x * 2]))
