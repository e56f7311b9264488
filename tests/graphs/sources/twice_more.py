"""More functions whose gradients are differentiated again, which take longer to compile."""

import torch
import torch.nn.functional as F
from torch import Tensor


def several(x: Tensor, xs: list[Tensor], scale: float = 0.5, bias: Tensor | None = None) -> tuple[Tensor, Tensor]:
    y = torch.cat(xs, 0) * scale * x
    z = torch.softmax(y, -1).log()
    return (z * y).sum(0), y.exp()


def kinds(
    x: Tensor,
    missing: Tensor | None,
    xs: list[Tensor],
    count: int,
    scale: float,
    keep: bool,
    text: str,
    dims: list[int],
    scales: list[float],
    dim: int | None,
    more: list[int] | None,
    number: int | float,
    flags: list[bool],
) -> Tensor:
    y = x.sum(dims, keep) * scale + count
    return y.sin().mean(more) * xs[0].sum() * number


def normalized(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.layer_norm(x, [3], w, b).mul(x).sum()


def behind(x: Tensor) -> Tensor:
    a = x * x
    b = a.detach()
    b.mul_(2)
    return a.sin() * a


def composed(x: Tensor, w: Tensor) -> Tensor:
    h = torch.einsum("ij,jk->ik", [x, w]).tanh()
    g = torch.einsum("ij,ij->i", [h, h * x])
    return (g * g).sin()


def cell(x: Tensor, h: Tensor, wi: Tensor, wh: Tensor) -> Tensor:
    h = torch.gru_cell(x, h, wi, wh)
    h = torch.gru_cell(x.sin(), h, wi, wh)
    return h.pow(2)


def multiplied(x: Tensor, y: Tensor) -> Tensor:
    a = x * x
    a.multiply_(y.sin())
    return a.exp() * x


def attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, mask).sin()


def reduced(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    a = F.mish(x * y)
    b = torch.linalg.vector_norm(a, dim=-1) * a.logsumexp(1)
    c = a.prod(1) + a.prod() * torch.atan2(a, y).roll(1, 0).amax(1)
    d = F.binary_cross_entropy_with_logits(a, y.sigmoid())
    return b.sin(), c.sin(), d.sin(), a.cumprod(1), torch.linalg.det(a)


def scattered(x: Tensor, i: Tensor, y: Tensor) -> Tensor:
    a = x.sin().scatter_reduce(1, i, y, "sum").scatter_reduce(1, i, y.cos(), "prod")
    return a.scatter_reduce(1, i, y.sin(), "mean").sin()
