"""Composite operators: on memory that the graph writes to, over empty dimensions, with sparse gradients."""

import torch.nn.functional as F
from torch import Tensor


def row_squared(x: Tensor) -> Tensor:
    x[0].square_()
    return x


def perhaps_the_input_squared(x: Tensor) -> tuple[Tensor, Tensor]:
    flat = x.reshape(-1)
    flat.square_()
    return x, flat


def product_over_none(x: Tensor, y: Tensor) -> Tensor:
    return x @ y


def affine_over_none(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.linear(x, w, b)


def sparse_gradient_last(w: Tensor, i: Tensor) -> Tensor:
    return (w * 2).sum() + F.embedding(i, w, sparse=True).sum()


def sparse_gradients(w: Tensor, i: Tensor) -> Tensor:
    return F.embedding(i, w, sparse=True).sum() + F.embedding(i + 1, w, sparse=True).sin().sum()


def multiplied_by_another_type(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x.float()
    z.multiply_(y)
    return z, z.sin()


def negated_and_flat(x: Tensor) -> Tensor:
    x.negative_()
    flat = x.ravel()
    flat.mul_(2)
    return flat
