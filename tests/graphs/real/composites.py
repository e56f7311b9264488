"""Composite operators, which the graph records, on memory that it writes to."""

from torch import Tensor


def input_squared(x: Tensor) -> Tensor:
    return x.square_()


def row_squared(x: Tensor) -> Tensor:
    x[0].square_()
    return x


def perhaps_the_input_squared(x: Tensor) -> tuple[Tensor, Tensor]:
    flat = x.reshape(-1)
    flat.square_()
    return x, flat
