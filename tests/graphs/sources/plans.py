"""Functions whose plans are tested, with operators of the core set."""

from typing import Annotated

import torch
from torch import Tensor


def base_not_used_again(t: Tensor) -> Tensor:
    """After the write to its view, which updates no base."""
    b = t.clone()
    x = b[0]
    x.sin_()
    return x.exp()


def call_without_use(x: Tensor) -> Tensor:
    x.sin()
    return x.exp()


def returned_with_other_metadata(x: Tensor) -> Tensor:
    x.t_()
    return x


def of_some_inputs(x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
    return x * y, z.exp()


def written_by_another_name(x: Tensor, y: Tensor) -> Tensor:
    v = x.contiguous()
    v -= y
    x.add_(1.5)
    return x


def sharing_without_a_write(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    return x * y


# ---- what is saved


def only_what_formulas_use(x: Tensor, y: Tensor) -> Tensor:
    return (x + y).exp().sum()


def used_by_two_formulas(x: Tensor) -> Tensor:
    y = x.exp()
    return (y * y).sum() + y.sin().sum()


def input_and_output(x: Tensor) -> Tensor:
    """Autograd detects a write to them."""
    return x.sin().exp()


def input_that_is_written(x: Tensor) -> Tensor:
    y = x.sin()
    x.mul_(2)
    return y


def view_of_an_input(x: Tensor) -> Tensor:
    return x[0].sin()


def constant(x: Tensor) -> Tensor:
    return x * torch.full([2], 3.0)


def for_some_gradients(x: Tensor, y: Tensor) -> Tensor:
    return x * y
