"""Inputs that share memory, or are one tensor: what is written to one of them is seen in the others."""

from typing import Annotated

from torch import Tensor


def neither_written(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    return a * b


def first_written(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    a.mul_(2)
    return a + b


def second_written(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    b.mul_(2)
    return a + b


def first_written_before_both(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    a.mul_(2)
    a.add_(b)
    b.mul_(3)
    return a - b


def written_and_the_other_returned(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    a.add_(1)
    return b


def written_and_a_view_of_the_other(
    a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]
) -> tuple[Tensor, Tensor]:
    a.add_(1)
    return b.view(-1), a


def used_before_and_after(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    before = b * 2
    a.mul_(3)
    return before + b


def through_a_view_of_one(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    a[0].mul_(2)
    return b.sum(0) + a.sum(0)


def only_views_are_returned(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> tuple[Tensor, Tensor]:
    return a.t(), b[1:]


def with_one_apart(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"], c: Tensor) -> Tensor:
    c.mul_(2)
    a.add_(c)
    return b * c


def one_of_three_written(
    a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"], c: Annotated[Tensor, "alias:a"]
) -> Tensor:
    b.mul_(2)
    return a + b + c


def two_of_three_written(
    a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"], c: Annotated[Tensor, "alias:a"]
) -> tuple[Tensor, Tensor]:
    a.mul_(2)
    c.add_(1)
    return b * 2, c


def two_pairs(
    a: Annotated[Tensor, "alias:a"],
    b: Annotated[Tensor, "alias:a"],
    c: Annotated[Tensor, "alias:b"],
    d: Annotated[Tensor, "alias:b"],
) -> Tensor:
    a.mul_(2)
    d.add_(a)
    return b + c


def detached_write(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    a.detach().mul_(2)
    return a + b


def filled_and_read(a: Annotated[Tensor, "alias:a"], b: Annotated[Tensor, "alias:a"]) -> Tensor:
    a.fill_(0.5)
    return b * b
