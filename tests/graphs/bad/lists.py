import torch
from torch import Tensor


def list_written(x: Tensor, y: Tensor) -> Tensor:
    torch._foreach_exp_([x, y])
    return x


def listed(xs: list[Tensor]) -> None:
    torch._foreach_exp_(xs)


def item_of_an_input(xs: list[Tensor]) -> Tensor:
    xs[0].mul_(2)
    return xs[1]


def look_of_an_item(xs: list[Tensor]) -> None:
    xs[0].t_()


def whole_after(xs: list[Tensor]) -> Tensor:
    ys = torch._foreach_exp(xs)
    ys[0].mul_(2)
    return torch.cat(ys)


def returned(xs: list[Tensor]) -> list[Tensor]:
    return torch._foreach_exp(xs)


def perhaps_a_view(xs: list[Tensor]) -> Tensor:
    return torch.einsum("ij->ji", xs)
