"""Views by composite operators, of all elements or of a part."""

import torch
from torch import Tensor


def reshaped(x: Tensor) -> Tensor:
    y = x.exp()
    return y.reshape(9) * y.flatten() + y.t().reshape(-1) * y.unflatten(0, (3, 1)).reshape(9)


def reshaped_before_transposed(x: Tensor) -> Tensor:
    y = x.exp()
    a = y.reshape(9) * 2
    z = y.t()
    return z * z + a.sum()  # the first gradient of y is a transposed one, which only a copy can reshape


def moved(x: Tensor) -> Tensor:
    y = x.exp()
    return y.movedim(0, 1) * y.swapaxes(0, 1).sin() * y.mT


def narrowed(x: Tensor) -> Tensor:
    y = x.exp()
    return y.narrow(0, 1, 2) * y.narrow(0, 0, 2) * y[:, 1:].sum()


def chunks(x: Tensor) -> Tensor:
    a, b = x.exp().chunk(2)
    return a * b


def some_chunks(x: Tensor) -> Tensor:
    a, _ = x.exp().chunk(2, 1)
    return a.sin()


def overlapping(x: Tensor) -> Tensor:
    a, b, c = x.exp().tensor_split((2, 1))
    return a.sum() * c + b.sum()


def complex_rows(x: Tensor) -> Tensor:
    y = torch.complex(x, x.sin())
    return (y[:1].adjoint() * y.mH).real.reshape(-1) * y.real.flatten()
