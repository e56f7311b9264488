"""Inputs whose data are written to: the updated input is an output of the forward, and is copied back."""

import torch
from torch import Tensor


def doubled(x: Tensor) -> None:
    """Nothing is returned."""
    x.mul_(2)


def doubled_and_used(x: Tensor) -> Tensor:
    """The updated input takes part in the backward."""
    x.mul_(2)
    return x * x


def operator_in_place(x: Tensor, y: Tensor) -> Tensor:
    x *= y
    x -= 1
    return x.sum(0)


def mutated_and_returned(x: Tensor) -> Tensor:
    x.mul_(2)
    return x


def mutated_and_returned_twice(x: Tensor) -> tuple[Tensor, Tensor]:
    x.add_(1)
    return x, x


def row_written(x: Tensor, y: Tensor) -> Tensor:
    """A write through a view of an input."""
    x[0].mul_(y[0])
    return y + 1


def row_assigned(x: Tensor, y: Tensor) -> Tensor:
    x[1:] = y[1:] * 2
    return x.cos()


def view_returned(x: Tensor) -> Tensor:
    """An input written to, and a view of it returned."""
    x.mul_(3)
    return x[1:]


def written_by_view(x: Tensor) -> Tensor:
    v = x.t()
    v[0].exp_()
    return v


def copied_into(x: Tensor, y: Tensor) -> None:
    """Of what was in the input, nothing is left."""
    x.copy_(y * 2)


def zeroed(x: Tensor, y: Tensor) -> Tensor:
    x.zero_()
    return x + y


def swapped(x: Tensor, y: Tensor) -> None:
    """Two inputs, each written with what the other one was."""
    t = x.clone()
    x.copy_(y)
    y.copy_(t)


def accumulated(total: Tensor, x: Tensor) -> Tensor:
    """A running total."""
    total.add_(x.sum(0, keepdim=True) * 0.1)
    return x - total


def written_with_itself(x: Tensor) -> Tensor:
    y = x * 2
    x.mul_(x)
    return x + y


def saved_before(x: Tensor) -> Tensor:
    """What the backward needs is the value from before the write."""
    y = x * x
    x.add_(1)
    return y + x


def scaled_by_number(x: Tensor, factor: float) -> Tensor:
    x.mul_(factor)
    return x * factor


def masked_in_place(x: Tensor) -> Tensor:
    x.masked_fill_(x == x.abs(), 0.5)
    return x * 2


def put(x: Tensor, i: Tensor, v: Tensor) -> Tensor:
    x.index_put_((i,), v)
    return x


def added_at(x: Tensor, i: Tensor, v: Tensor) -> Tensor:
    x.index_add_(0, i, v)
    return x + 0


def triangle(x: Tensor) -> Tensor:
    x.tril_()
    return torch.triu(x)


def clamped(x: Tensor, y: Tensor) -> Tensor:
    x.clamp_(min=0.1, max=0.8)
    y.lerp_(x, 0.5)
    return y


def filled_when_expanded(x: Tensor) -> Tensor:
    """Several elements of the view are one in memory, and get one value."""
    e = x[0].expand(3, -1)
    e.fill_(2)
    return x * 2


def zeroed_when_expanded(x: Tensor) -> Tensor:
    y = x * 1
    e = y[0].expand(3, -1)
    e.zero_()
    return y + e.sum()


def row_of_expanded(x: Tensor) -> Tensor:
    y = x * 1
    y[0].expand(3, -1)[1].mul_(3)
    return y


def multiplied_when_expanded(x: Tensor) -> Tensor:
    """Which value would count is not defined: eager refuses it."""
    y = x * 1
    y[0].expand(3, -1).mul_(3)
    return y


def written_when_detached(x: Tensor, y: Tensor) -> Tensor:
    """The data of x change, and its history does not."""
    x.detach().copy_(y)
    return x * y


def used_when_detached(x: Tensor, y: Tensor) -> Tensor:
    """What is detached has a history of its own."""
    d = x.detach()
    d.mul_(y)
    return d * x


def row_of_detached(x: Tensor, y: Tensor) -> Tensor:
    t = x * 1
    d = t.detach()
    e = d[0]
    e.copy_(y[0])
    return d.sum(0) * t[1] * e


def detached_twice_written(x: Tensor, y: Tensor) -> Tensor:
    d = (x * 1).detach()
    d.mul_(y)
    d[1].add_(y[0])
    return d * 2


# ---- what is written to is found by a number that is computed


def row_at_next(k: Tensor, v: Tensor, pos: int) -> Tensor:
    k[pos + 1] = v[0]
    return k.sum()


def columns_from(k: Tensor, v: Tensor, pos: int) -> Tensor:
    k[:, pos : pos + 2] = v[:, :2]
    return k * 2


def narrowed_at_next(k: Tensor, pos: int) -> Tensor:
    k.narrow(1, pos + 1, 2).mul_(2)
    return k


def first_half(k: Tensor, v: Tensor) -> Tensor:
    half = k.shape[0] // 2
    k[:half] = v[:half]
    return k


def as_many_as_computed(k: Tensor, v: Tensor) -> Tensor:
    """The number is none of an input's."""
    n = v.reshape(-1).shape[0] // 12
    k[:n].mul_(2)
    return k * v


def part_of_computed_length(k: Tensor, pos: int) -> Tensor:
    a, b = k.split(pos * 2 // 2)
    a.mul_(2)
    return b
