"""Functions whose gradients are differentiated again."""

import torch
import torch.nn.functional as F
from torch import Tensor


def energy(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    h = torch.tanh(x @ w + b)
    return (h * h).sum()


def potential(positions: Tensor, w: Tensor, b: Tensor, v: Tensor) -> Tensor:
    distances = (positions.unsqueeze(0) - positions.unsqueeze(1)).pow(2).sum(-1) + 1.0
    features = torch.exp(-distances.unsqueeze(-1) * w)
    return (torch.sigmoid(features + b) * v).sum()


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


def views(x: Tensor, y: Tensor) -> Tensor:
    a = x.clone()
    a[0] = y.sin()
    a[:, 1].mul_(y[1])
    return a.t().pow(3).contiguous().view(-1)


def detached(x: Tensor, y: Tensor) -> Tensor:
    return (x.detach() * y * x).sin()


def normalized(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.layer_norm(x, [3], w, b).mul(x).sum()


def written(x: Tensor, y: Tensor) -> Tensor:
    x.mul_(y)
    return x.sin()


def dropped(x: Tensor) -> Tensor:
    return F.dropout(x, 0.5, True) * x


def behind(x: Tensor) -> Tensor:
    a = x * x
    b = a.detach()
    b.mul_(2)
    return a.sin() * a


def frozen(x: Tensor, y: Tensor) -> Tensor:
    with torch.no_grad():
        z = x * y
    return z * y


def composed(x: Tensor, w: Tensor) -> Tensor:
    h = torch.einsum("ij,jk->ik", [x, w]).tanh()
    g = torch.einsum("ij,ij->i", [h, h * x])
    return (g * g).sin()


def cell(x: Tensor, h: Tensor, wi: Tensor, wh: Tensor) -> Tensor:
    h = torch.gru_cell(x, h, wi, wh)
    h = torch.gru_cell(x.sin(), h, wi, wh)
    return h.pow(2)


def joined(x: Tensor, y: Tensor) -> Tensor:
    return torch.vstack([x.sin(), y, x * y]).pow(3).sum(0)


def multiplied(x: Tensor, y: Tensor) -> Tensor:
    a = x * x
    a.multiply_(y.sin())
    return a.exp() * x


def kept(x: Tensor) -> Tensor:
    return F.dropout(x, 0.0, True) * x * F.rrelu(x, 0.1, 0.3, False)


def attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, mask).sin()
