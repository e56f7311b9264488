"""Statistics that operators update without an annotation in their schemas: versions are bumped as in eager."""

import torch
import torch.nn.functional as F
from torch import Tensor


def instance_normalized(x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    """Eager updates a view, and so bumps the version."""
    return F.instance_norm(x, mean.detach(), var.detach())


def instance_normalized_on_demand(x: Tensor, mean: Tensor, var: Tensor, update: bool) -> Tensor:
    return torch.instance_norm(x, None, None, mean.detach(), var.detach(), update, 0.1, 1e-5, False)


def batch_normalized_in_place(x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    return F.batch_norm(x, mean.detach(), var.detach(), training=True)


def normalized_without_weight(x: Tensor, bias: Tensor) -> Tensor:
    """The library records the call; None has a place among the gradients."""
    return torch.batch_norm(x, None, bias[0], None, None, True, 0.1, 1e-5, False)


def batch_evaluated(x: Tensor, mean: Tensor, var: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.batch_norm(x, mean.detach(), var.detach(), weight, bias) * x
