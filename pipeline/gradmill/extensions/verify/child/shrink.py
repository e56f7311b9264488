"""The sample of a finding as people read it: made smaller, as long as the finding remains, and as text that they can
type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gradmill.extensions.verify.child.calls import Gradients, mapped, tensors
from gradmill.extensions.verify.child.checks import Finding, number_of
from gradmill.extensions.verify.child.formulas import Args, Formulas

_TRIES = 40
_SHOWN = 12  # elements of a tensor

Found = Callable[[Args], Finding | None]


def shrunk(finding: Finding, args: Args, again: Found) -> tuple[Finding, Args]:
    """The finding at the smallest arguments that have it, of those tried. `again`: the same finding at other arguments;
    None if there is none."""
    tries = iter(range(_TRIES))
    smallest: tuple[Finding, Args] | None = finding, args
    while smallest is not None:
        best = smallest
        tried = ((again(smaller), smaller) for smaller, _ in zip(_smaller(best[1]), tries))
        smallest = next(((found, smaller) for found, smaller in tried if found is not None), None)
    return best


def _smaller(args: Args) -> Iterator[Args]:
    """Arguments with a dimension of every tensor that has its size cut to one element; then with rounded numbers."""
    own = list(tensors(args))
    sizes = sorted({size for tensor in own for size in tensor.shape if size > 1}, reverse=True)
    for size in sizes:
        for place in range(max(tensor.dim() for tensor in own)):
            if any(tensor.dim() > place and tensor.shape[tensor.dim() - 1 - place] == size for tensor in own):
                yield mapped(partial(_cut, size=size, place=place), args)
    rounded = mapped(_rounded, args)
    if any(not torch.equal(a, b) for a, b in zip(own, tensors(rounded))):
        yield rounded


def _cut(tensor: Tensor, size: int, place: int) -> Tensor:
    """The first element along a dimension counted from the last one, if it has this size."""
    dim = tensor.dim() - 1 - place
    return tensor.narrow(dim, 0, 1) if dim >= 0 and tensor.shape[dim] == size else tensor


def _rounded(tensor: Tensor) -> Tensor:
    return (tensor * 4).round() / 4 if tensor.is_floating_point() else tensor


def described(formulas: Formulas, args: Args, grads: Gradients) -> str:
    """The arguments, and the gradients of outputs: `self=tensor(0.5), other=2, grad=tensor(1.25)`. Defaults of None are
    left out."""
    pairs = [*zip(formulas.arguments, args), *(("grad", each) for each in grads)]
    return ", ".join(f"{name}={_value(value)}" for name, value in pairs if value is not None)


def _value(value: Any) -> str:
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value).removeprefix("torch.")


def _tensor(tensor: Tensor) -> str:
    shape = list(tensor.shape)
    if tensor.numel() > _SHOWN or tensor.layout != torch.strided:
        return f"tensor of shape {shape}"
    kind = "" if tensor.dtype == torch.float64 else f", {str(tensor.dtype).removeprefix('torch.')}"
    return f"tensor({_number(tensor.detach().tolist())}{kind})"


def _number(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_number, value))}]"
    return number_of(value, 4) if isinstance(value, float | complex) else str(value)
