"""Functions whose gradients are differentiated again."""

from typing import Annotated

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


def activated(x: Tensor, y: Tensor) -> Tensor:
    a = F.silu(x * y)
    return F.silu(a * x, inplace=True)


def views(x: Tensor, y: Tensor) -> Tensor:
    a = x.clone()
    a[0] = y.sin()
    a[:, 1].mul_(y[1])
    return a.t().pow(3).contiguous().view(-1)


def dropped(x: Tensor) -> Tensor:
    return F.dropout(x, 0.5, True) * x


# ---- changed inputs, calls under no_grad


def written(x: Tensor, y: Tensor) -> Tensor:
    x.mul_(y)
    return x.sin() * y


def row(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    x[0] = y[1].exp()
    x[1:].mul_(y[1:].sin())
    return x.pow(2), y * x[0]


def into(x: Tensor, y: Tensor) -> Tensor:
    with torch.no_grad():
        z = torch.empty_like(y)
        torch.mul(x, y, out=z)
        s = x[0]
    return z * x * s


def averaged(x: Tensor, w: Tensor, mean: Tensor, count: Tensor) -> Tensor:
    y = (x * w).tanh()
    with torch.no_grad():
        count.add_(1)
        mean.mul_(0.9).add_(y * 0.1)
    return (y - mean * w).sin() * count


def iterated(w: Tensor, u: Tensor, x: Tensor) -> Tensor:
    with torch.no_grad():
        v = F.normalize(w.t() @ u, dim=0)
        u.copy_(F.normalize(w @ v, dim=0))
    return (w / torch.dot(u, w @ v)).sin() @ x


def trained(x: Tensor, w: Tensor, b: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    return F.batch_norm(x, mean, var, w, b, True).tanh() * x


# ---- what has no second derivative in a graph


def zeroed(x: Tensor, y: Tensor) -> Tensor:
    z = x * y
    z.zero_()
    return z * y + x.sin() * y


def sharing(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"], z: Tensor) -> Tensor:
    x.mul_(2)
    return x * y * z
