"""Views of one row, or of a diagonal."""

from torch import Tensor


def products_of_rows(x: Tensor) -> Tensor:
    y = x * 2
    return y[0] * y[1] + y[2].exp() * y[0]


def a_row_and_all(x: Tensor) -> Tensor:
    y = x.exp()
    row = y[1] * 2
    return y * y + row


def diagonals(x: Tensor) -> Tensor:
    y = x.exp()
    return y.diagonal() * y.diagonal(0, 1, 0) + y.diagonal(1).sum()


def rows_of_an_output(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.exp()
    return y, y[0] * y[2]


def columns_of_a_transposed(x: Tensor) -> Tensor:
    y = x.exp()
    z = y.t()
    return z[0] * z[1] + y[2] * z[2]


def rows_of_a_sum(x: Tensor) -> Tensor:
    y = x.exp()
    rows = y[0] * y[1]
    return y.sum() + rows  # the first gradient is an expanded one
