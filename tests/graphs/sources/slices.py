"""Views of slices."""

import torch
from torch import Tensor


def halves(x: Tensor) -> Tensor:
    y = x.exp()
    return torch.cat([y[1:] * 2, y[:1] * y[-1:], y[::2] * y[:2]]) * y[0]
