"""Attention with dropout."""

import torch.nn.functional as F
from torch import Tensor


def plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, None, 0.3)


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, None, 0.1, True).sin()


def scaled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, dropout_p=0.6, scale=-0.7)


def masked(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, mask, 0.25)


def grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k[:, :1], v[:, :1], dropout_p=0.3, enable_gqa=True)


def chosen(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, dropout_p=p)


def without(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, None, 0.0)
