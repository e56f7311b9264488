"""Inputs that may share storage, one of them written to: they are made again from a synthetic base.

Which inputs may is declared: by `Annotated[Tensor, "alias:NAME"]`, one name for those that may share.
"""

from typing import Annotated

from torch import Tensor


def one_written(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    """A write to one is seen in the other."""
    x.mul_(2)
    return y + 1


def other_written(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    y.add_(1)
    return x * y


def both_written(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    x.mul_(2)
    y.add_(1)
    return x + y


def written_and_returned(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> tuple[Tensor, Tensor]:
    x.mul_(2)
    return x, y


def view_of_other(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    x.mul_(2)
    return y[0]


def three(
    x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"], z: Annotated[Tensor, "alias:a"], w: Tensor
) -> Tensor:
    """Three that may share, and one that may not."""
    y.mul_(w)
    return x + z


def two_groups(
    a: Annotated[Tensor, "alias:a"],
    b: Annotated[Tensor, "alias:a"],
    c: Annotated[Tensor, "alias:c"],
    d: Annotated[Tensor, "alias:c"],
) -> Tensor:
    a.mul_(2)
    d.add_(b)
    return b * c


def by_table(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    x.mul_(y)
    return y.sum()


def none_written(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    """Nothing is written to: no base is needed."""
    return x * y


def metadata_of_another(x: Annotated[Tensor, "alias:a"], y: Tensor, z: Annotated[Tensor, "alias:a"]) -> Tensor:
    """Other sizes of an input that shares nothing."""
    z.mul_(2)
    y.t_()
    return x + z


def metadata_of_one(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    x.mul_(2)
    y.t_()
    return x.sum() + y
