"""Subscripts that are tensors without dimensions: eager selects, and the graph does not know that in advance."""

from torch import Tensor


def row_of_a_tensor(x: Tensor) -> Tensor:
    i = (x.sum() > 0).long()
    return x[i] * 2


def row_and_columns(x: Tensor) -> tuple[Tensor, Tensor]:
    i = (x.sum() > 0).long()
    return x[i, [0, 3, 3]], x[:, i].sin()


def rows_assigned(x: Tensor, y: Tensor) -> Tensor:
    z, i = x * 2, (x.sum() > 0).long()
    z[i] = y[0]
    z[i] *= 3
    z[i] += 1
    return z


def assigned_if(x: Tensor) -> Tensor:
    z, m = x * 2, x.sum() > 0
    z[m] = 0.5
    return z


def used_before_the_write(x: Tensor) -> tuple[Tensor, Tensor]:
    y, i = x.sin(), (x.sum() > 0).long()
    w = y[i] * 2
    y.mul_(2)
    return y, w


def a_copy_and_writes(x: Tensor) -> tuple[Tensor, Tensor]:
    y, i = x.sin(), (x.sum() > 0).long().view(1)
    z = y[i]
    y.mul_(2)
    z.mul_(3)
    return y, z
