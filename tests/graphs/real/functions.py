"""Functions that torch implements in Python, with the name of an operator that does something else."""

import torch
import torch.nn.functional as F
from torch import Tensor


def relu6_of_limits(x: Tensor) -> tuple[Tensor, Tensor]:
    return F.relu6(x * 1, inplace=True), F.relu6(x)


def last_is_padding(i: Tensor, w: Tensor) -> Tensor:
    return F.embedding(i, w, padding_idx=-1)


def padding(i: Tensor, w: Tensor, at: int) -> Tensor:
    return F.embedding(i, w, at)


def normalized_rows(i: Tensor, w: Tensor) -> Tensor:
    return F.embedding(i, w, max_norm=0.1, norm_type=1.0)


def pooled(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    a, i = F.adaptive_max_pool2d(x, 2, return_indices=True)
    return F.adaptive_max_pool2d(x, 2), a, i


def runs(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    a, i = torch.unique_consecutive(x, return_inverse=True)
    b, n = x.unique_consecutive(return_counts=True)
    return torch.unique_consecutive(x), a, i, b, n


def entropy(x: Tensor, y: Tensor) -> Tensor:
    return F.binary_cross_entropy(x / 2, y / 2)


def product_of_three(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    return torch.chain_matmul(x, y, z)


def distances(x: Tensor, y: Tensor) -> Tensor:
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def contracted(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.tensordot(x, y), torch.tensordot(x, y, ([0], [0])), torch.tensordot(x, y.mT, 1)


def spectrum(x: Tensor) -> Tensor:
    return torch.stft(x, 4, return_complex=True) + x.stft(4, center=True, return_complex=True)


def at_least_of_several(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    a, b = torch.atleast_3d(x, x + 1)
    return torch.atleast_3d(x) * 2, a * 2, b * 3


def margins(x: Tensor, i: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    classes = F.multi_margin_loss(x, i, reduction="sum")
    return classes, F.triplet_margin_loss(x, y, y * 2, margin=0.5), F.rrelu(x - 0.5)
