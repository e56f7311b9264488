"""The sample of a finding as people read it: made smaller, as long as the finding remains, and as text that they can
type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gradmill.extensions.verify.child.calls import Gradients, mapped, tensors
from gradmill.extensions.verify.child.checks import number_of
from gradmill.extensions.verify.child.formulas import Args, Formulas

_TRIES = 40
_SHOWN = 12  # elements of a tensor


def shrunk(args: Args, has_finding: Callable[[Args], bool]) -> Args:
    """The smallest arguments that have a finding, of those tried."""
    tries = iter(range(_TRIES))
    smaller: Args | None = args
    while smaller is not None:
        args = smaller
        smaller = next((each for each, _ in zip(_smaller(args), tries) if has_finding(each)), None)
    return args


def _smaller(args: Args) -> Iterator[Args]:
    """Arguments with a dimension of every tensor that has its size cut to one element; then with rounded numbers."""
    own = list(tensors(args))
    sizes = {(-size, place) for each in own for place, size in enumerate(reversed(each.shape)) if size > 1}
    for size, place in sorted(sizes):
        yield mapped(partial(_cut, size=-size, dim=-1 - place), args)
    rounded = mapped(lambda each: (each * 4).round() / 4 if each.is_floating_point() else each, args)
    if any(not torch.equal(a, b) for a, b in zip(own, tensors(rounded))):
        yield rounded


def _cut(tensor: Tensor, size: int, dim: int) -> Tensor:
    """The first element along a dimension counted from the last one, if it has this size."""
    return tensor.narrow(dim, 0, 1) if tensor.dim() >= -dim and tensor.shape[dim] == size else tensor


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
