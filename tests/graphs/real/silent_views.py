"""Views made under no_grad: eager refuses a write to one, or its use after a write to its base, in grad mode."""

import torch
from torch import Tensor


def silent_view_of_view_written(x: Tensor, y: Tensor) -> Tensor:
    with torch.no_grad():
        v = x[0]
    v[0].mul_(2)
    return x * y


def silent_view_written_silently(x: Tensor, y: Tensor) -> Tensor:
    z = x * y
    with torch.no_grad():
        v = z[0]
        v.mul_(2)
    return z


def detached_silent_view_written(x: Tensor, y: Tensor) -> Tensor:
    z = x * y
    with torch.no_grad():
        v = z.detach()[0]
    v.mul_(2)
    return z


def silent_view_used_after(x: Tensor, y: Tensor) -> Tensor:
    z = x * y
    with torch.no_grad():
        v = z[0]
    z.mul_(2)
    return v * z


def silent_view_of_input_used_after(x: Tensor, y: Tensor) -> Tensor:
    with torch.no_grad():
        v = x[0]
    x.mul_(2)
    return v * y


def silent_view_used_silently_after(x: Tensor, y: Tensor) -> Tensor:
    z = x * y
    with torch.no_grad():
        v = z[0]
    z.mul_(2)
    with torch.no_grad():
        w = v * 2
    return z * w


def silent_view_changed_silently(x: Tensor, y: Tensor) -> Tensor:
    with torch.no_grad():
        v = x[0]
    v.logical_not_()
    return y * 2


def silent_view_used_after_a_silent_write(x: Tensor, y: Tensor) -> Tensor:
    z = x * y
    with torch.no_grad():
        v = z[0]
        z.mul_(2)
    return v * z


def detached_silent_view_used_after(x: Tensor, y: Tensor) -> Tensor:
    z = x * y
    with torch.no_grad():
        v = z.detach()[0]
    z.mul_(2)
    return v * z


# ---- a write to what was detached is no check of a later one


def row_changed_after_detached(x: Tensor) -> Tensor:
    x.detach().mul_(2)
    row = x[0]
    row.unsqueeze_(0)
    return row


def written_after_detached(x: Tensor, y: Tensor) -> Tensor:
    x.detach().mul_(y)
    x.t_()
    return x * 1
