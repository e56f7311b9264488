"""Dual tensors, in a dual level of torch."""

from __future__ import annotations

from torch import Tensor
from torch.autograd import forward_ad


def dual(tensor: Tensor, move: Tensor) -> Tensor:
    """A tensor with a tangent."""
    made: Tensor = forward_ad.make_dual(tensor, move)  # type: ignore[no-untyped-call]
    return made


def primal(tensor: Tensor) -> Tensor:
    """A tensor without its tangent."""
    value: Tensor = forward_ad.unpack_dual(tensor).primal  # type: ignore[no-untyped-call]
    return value


def tangent(tensor: Tensor) -> Tensor | None:
    """The tangent of a tensor; None if it has none."""
    value: Tensor | None = forward_ad.unpack_dual(tensor).tangent  # type: ignore[no-untyped-call]
    return value
