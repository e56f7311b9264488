"""Subscripts with tensors that may have no dimensions."""

from torch import Tensor


def written(x: Tensor, i: Tensor) -> Tensor:
    y = x.sin()
    z = y[i]
    z.mul_(2)
    return y


def base_written(x: Tensor, i: Tensor) -> Tensor:
    y = x.sin()
    z = y[i]
    y.mul_(2)
    return z


def view_of_it_written(x: Tensor, i: Tensor) -> Tensor:
    y = x.sin()
    y[i][0].mul_(2)
    return y


def input_written(x: Tensor, i: Tensor) -> Tensor:
    z = x[i]
    x.mul_(2)
    return z + 1


def of_another_one(x: Tensor, i: Tensor) -> Tensor:
    y = x.sin()
    z = y[i][i]
    y.mul_(2)
    return z


def apart(x: Tensor, i: Tensor) -> Tensor:
    return x.view(2, 2, 3)[i, :, [0, 2]]


def picked(x: Tensor, i: Tensor) -> Tensor:
    return x[i]


def after_dots(x: Tensor, i: Tensor) -> Tensor:
    return x[..., :1, i]


def increased(x: Tensor, i: Tensor) -> Tensor:
    y = x.sin()
    y[i] += 1
    return y


def increased_column(x: Tensor, i: Tensor) -> Tensor:
    y = x.sin()
    y[:, i[0]] += 1
    return y


def then_number(x: Tensor, i: Tensor) -> Tensor:
    return x[i, 0]
