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


def activated(x: Tensor, y: Tensor) -> Tensor:
    a = F.silu(x * y)
    return F.silu(a * x, inplace=True)


def views(x: Tensor, y: Tensor) -> Tensor:
    a = x.clone()
    a[0] = y.sin()
    a[:, 1].mul_(y[1])
    return a.t().pow(3).contiguous().view(-1)


def written(x: Tensor, y: Tensor) -> Tensor:
    x.mul_(y)
    return x.sin()


def dropped(x: Tensor) -> Tensor:
    return F.dropout(x, 0.5, True) * x


def frozen(x: Tensor, y: Tensor) -> Tensor:
    with torch.no_grad():
        z = x * y
    return z * y
