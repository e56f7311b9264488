"""Functions whose gradients call gradmill's own helpers, in the special cases: zeros, ties, complex numbers."""

import torch
from torch import Tensor


def powers(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return x.pow(0), x.pow(2.5), x.pow(3), x.pow(y), torch.pow(2, y)


def powers_of_zero(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    zeros = x * 0
    return zeros.pow(y), torch.pow(0, y), zeros.pow(1)


def real_and_complex(x: Tensor, z: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return x * z, x / z, z / x, z - x, torch.cat([x, z])


def rounded(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.div(y, rounding_mode="floor"), x.div(y, rounding_mode="trunc"), x.div(0.3, rounding_mode="floor")


def sums(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    y = x.view(2, 3, 4)
    return y.sum([0, -1]), y.sum([1], keepdim=True), y.mean([0, 2]), y.mean([-2], keepdim=True), y.cumsum(1)


def products(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.t().mm(y), torch.addmm(x.mm(y.t()), x, y.t(), beta=0.5, alpha=2), x.mm(y.t().contiguous())


def ties(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    y[1] = y[0]
    return y.max(), y.min()


def clamps(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.clamp(0.3, 0.8), x.clamp(min=0.3), x.clamp(max=0.8)


def masked(x: Tensor, value: Tensor) -> Tensor:
    return x.masked_fill(x > 0.5, value) * 2


def shapes(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    y = x.view(1, 4, 1, 6)
    squeezed = y.squeeze().exp(), y.squeeze(-2).exp(), y.squeeze([0, 1]).exp()
    return squeezed[0], squeezed[1], squeezed[2], y.permute(-1, 0, 2, 1).exp(), x.repeat(2, 1, 3)


def slices(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x[1::2].exp(), x[:, -3:-1].exp(), x[[0, 0, 2], 1:].exp()


def joined_to_another(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.cat([x, y], -1), torch.stack([x, y], 1), torch.cat([torch.empty(0, dtype=torch.float64), x])


def parts(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.split(4, 1)[1].exp(), x.unbind(1)[2].exp(), x.split([1, 3])[0].exp()


def logs(x: Tensor) -> Tensor:
    return x.log1p()


# ---- two dtypes


def cast_of_both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.to(y.dtype) * 2, x.type_as(y) * y, x[0].expand_as(y) * y


def as_another(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.positive() * y, torch.broadcast_to(x[0], y.shape) * y, x.contiguous() * y[0]


def summed_as_both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.sum(0, dtype=y.dtype), x.cumsum(0, dtype=y.dtype), x.mean(1, dtype=y.dtype)


def matrices(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x @ y.t(), torch.nn.functional.linear(x, y, y[:, 0]), x[None] @ y.mT


def orders(x: Tensor) -> tuple[Tensor, Tensor]:
    """Those that are not the largest get zero even from an infinite gradient."""
    return x.max() * 1, x.min() / 0
