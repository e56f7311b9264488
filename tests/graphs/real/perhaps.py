"""Results that are an argument or a copy, by the layout and the dtype at run time: after a write to one of the two, the
other one needs a gradient if it is in the same memory, and only then."""

import torch
from torch import Tensor


def written_by_to(x: Tensor, y: Tensor) -> Tensor:
    v = x.to(torch.float64)
    v -= y
    return x * 2


def written_by_flatten(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 1
    v = z[:, 1:].flatten()
    v -= y[:, 1:].flatten()
    return z, z.t()


def written_by_expand_as(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    v = x.contiguous().expand_as(y)
    v -= y
    return x * 1, v


def written_by_part(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    v = x.ravel()
    w = v[:6]
    w -= y[0]
    x.add_(1.5)
    return x, w


def written_by_two(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    v = x.contiguous()
    w = v.t().reshape(24)
    w -= y.reshape(24)
    return x * 1, v, w


def without_gradients(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    with torch.no_grad():
        v = x.to(torch.float64)
        w = x.type_as(y.float())
    return v, w, w * y


def used_by_a_call(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """What is saved, and what a recorded call needs, depends on it."""
    v = x.contiguous()
    v -= y
    w = x.detach() * 1
    return x * w, torch.tensordot(x, w, dims=2)


# ---- made under no_grad: the argument itself has its history, and a copy has none


def used_after_no_grad_of_computed(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * y
    t = z.t()
    with torch.no_grad():
        v = z.contiguous().positive()
        w = t.contiguous()
    return v * y, w * w


def written_after_no_grad(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        v = x.contiguous()
    v.mul_(y)
    return x * 1, v


def written_before_no_grad_ends(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 1
    with torch.no_grad():
        v = z.to(torch.float64)
        v.mul_(y)
    return z * 1, v * y


def copy_with_a_view_of_the_original(x: Tensor) -> Tensor:
    """What may be x is none here: it overlaps nothing that is read."""
    y = torch.nn.functional.dropout(x, 0.5)
    y[:, :2].add_(x[:, 1:3])
    return y
