"""Functions that torch implements in Python, with the name of an operator that does something else."""

import torch
import torch.nn.functional as F
from torch import Tensor


def relu6_of_limits(x: Tensor) -> tuple[Tensor, Tensor]:
    return F.relu6(x * 1, inplace=True), F.relu6(x)


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


def sampled(x: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return (
        F.grid_sample(x, g, align_corners=False),
        F.grid_sample(x, g, "bicubic", "reflection", True),
        F.grid_sample(x, g, "nearest", "border", False),
    )


def warped(theta: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    g = F.affine_grid(theta, x.shape, align_corners=False)
    return F.grid_sample(x, g, align_corners=False), F.affine_grid(theta, [2, 1, 3, 2], align_corners=True)


def enlarged(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    a, b = F.interpolate(x, (5, 6)), F.interpolate(x, scale_factor=(2.0, 1.5))
    c = F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True)
    d = F.interpolate(x, (3, 2), mode="bilinear", antialias=True)
    e = F.interpolate(x, 3, mode="bicubic", antialias=True)
    f = F.interpolate(x, scale_factor=[0.5, 0.7], mode="area")
    return a, b, c, d, e, f


def enlarged_by(x: Tensor, by: float) -> tuple[Tensor, Tensor, Tensor]:
    a = F.interpolate(x, scale_factor=by, mode="bicubic", recompute_scale_factor=True)
    return a, F.interpolate(x, (x.shape[2] * 2, 3), mode="nearest-exact"), F.interpolate(x, [7, 2], mode="area")


def in_space(x: Tensor) -> tuple[Tensor, Tensor]:
    return F.interpolate(x, scale_factor=1.7, mode="trilinear"), F.interpolate(x, (2, 3, 4))


def bags(i: Tensor, w: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    a = F.embedding_bag(i, w)
    b = F.embedding_bag(i, w, mode="sum", per_sample_weights=p, padding_idx=1)
    return a, b, F.embedding_bag(i, w, mode="max")


def bags_at(i: Tensor, w: Tensor, o: Tensor) -> tuple[Tensor, Tensor]:
    a = F.embedding_bag(i, w, o, scale_grad_by_freq=True, mode="sum")
    return a, F.embedding_bag(i, w, o, include_last_offset=True)


def short_bags(i: Tensor, w: Tensor) -> Tensor:
    return F.embedding_bag(i, w, max_norm=0.1)


def of_variances(x: Tensor, y: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return F.gaussian_nll_loss(x, y, v, eps=0.5), F.gaussian_nll_loss(x, y, v, full=True, reduction="none")


def sums_of_powers(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    a, b = F.lp_pool2d(x, 2, 2), F.lp_pool2d(x, 3.0, (2, 1), stride=1, ceil_mode=True)
    return a, b, F.lp_pool2d(x, float("inf"), 2), F.lp_pool1d(x[0], 2, 3)


def unfolded_and_folded(x: Tensor) -> Tensor:
    return F.fold(F.unfold(x, 2), (4, 4), 2)


def straight_through(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return F.gumbel_softmax(x, 0.5), F.gumbel_softmax(x, hard=True), F.gumbel_softmax(x, 2.0, dim=0)


def local_responses(x: Tensor) -> tuple[Tensor, Tensor]:
    return F.local_response_norm(x, 2), F.local_response_norm(x, 3, 0.5, 0.6, 2.0)


def many_labels(x: Tensor, y: Tensor, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    of_mean = F.multilabel_soft_margin_loss(x, y)
    weighted = F.multilabel_soft_margin_loss(x, y, w, reduction="none")
    return of_mean, weighted, F.multilabel_soft_margin_loss(x, y, reduction="sum")


def pooled_with_places(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    largest, places = F.max_pool2d(x, 2, 1, return_indices=True)
    along, at = F.max_pool1d(x[0], 2, return_indices=True)
    return largest, places, along, at, F.max_pool3d(x, 2, return_indices=True)[0]


def refused_for_complex(x: Tensor) -> Tensor:
    return F.silu(torch.complex(x, x))
