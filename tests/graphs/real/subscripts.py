"""Subscripts that are tensors without dimensions: eager selects, and the graph does not know that in advance."""

from torch import Tensor


def row_and_columns(x: Tensor) -> tuple[Tensor, Tensor]:
    i = (x.sum() > 0).long()
    return x[i, [0, 3, 3]], x[:, i].sin()


def rows_assigned(x: Tensor, y: Tensor) -> Tensor:
    z, i = x * 2, (x.sum() > 0).long()
    z[i] = y[0]
    z[i] *= 3
    z[i] += 1
    return z


def a_copy_and_writes(x: Tensor) -> tuple[Tensor, Tensor]:
    y, i = x.sin(), (x.sum() > 0).long().view(1)
    z = y[i]
    y.mul_(2)
    z.mul_(3)
    return y, z


def after_dots(x: Tensor, i: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return x[..., i] * 2, x[..., i, :], x[..., 0, i], x[:1, ..., None, i, 1:], x[i, ..., i]


def masked_after_dots(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    z, m = x.sin(), x[0] > 0.5
    z[..., z > 0.5] = 0.0
    return z, x[..., m], x[..., x > 0.3]


def assigned_after_dots(x: Tensor, i: Tensor, y: Tensor) -> Tensor:
    x[..., i] *= 3
    z = x * 2
    z[..., i, :] = y
    z[..., i, 0] += 1
    return z


def one_after_dots(x: Tensor) -> Tensor:
    i = (x.sum() > 0).long()
    return x[..., i] + x[..., i, :1].sum()
