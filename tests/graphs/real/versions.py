"""Metadata mutations of values that may be views of an input, and then bump its version; or copies, and then do not."""

from typing import Annotated

import torch
from torch import Tensor

# ---- always a copy


def copy_changed_three_times(x: Tensor) -> Tensor:
    v = x.t().contiguous()
    v.unsqueeze_(0)
    v.transpose_(0, 2)
    v[0].t_()
    return v


def copy_changed_under_no_grad(x: Tensor) -> Tensor:
    v = x.detach().t().contiguous()
    with torch.no_grad():
        v.t_().t_()
    return v * x.t()


# ---- a copy, or a view, as the strides decide


def view_of_view_or_copy(x: Tensor) -> tuple[Tensor, Tensor]:
    v = x.reshape(-1).reshape(2, -1)[0]
    v.unsqueeze_(0)
    return v, x[0]


def row_of_dropped(x: Tensor, training: bool) -> Tensor:
    v = torch.dropout(x, 0.5, training)[0]
    v.unsqueeze_(1)
    return v


# ---- of inputs that share memory


def one_of_two_copied(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"], z: Tensor) -> Tensor:
    """What is changed is a copy, and nothing else gets a new version."""
    v = x.t().contiguous()
    v.t_()
    z.mul_(2)
    return v * y * z


def one_of_two_flat(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    v = x.reshape(-1)
    v.unsqueeze_(0)
    return v * y.reshape(-1)


def one_of_three_flat(
    x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"], z: Annotated[Tensor, "alias:a"], write: bool
) -> Tensor:
    """The write makes variants; without one at run time, the versions are those of the view or the copy."""
    v = x.reshape(-1)
    v.unsqueeze_(0)
    w = torch.dropout(z, 0.5, write)
    w.mul_(2)
    return v * y.reshape(-1)


def detached_in_place(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    z = y.detach_()
    return z * x, y


def viewed_after_detached(x: Tensor) -> Tensor:
    y = x * 2
    y.detach_()
    y[1].mul_(2)
    return y * x


def detached_without_grad(x: Tensor) -> Tensor:
    y = x.sin()
    with torch.no_grad():
        y.detach_()
    return y * x


def one_after_another(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x.mul_(2).add(x.sum()), torch.add(x.mul_(2).sum(), other=x.add_(1))
    x[[0]] += x.mul_(2)[1]
    return a, b
