"""The inputs of an operator as text that a person can type."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gradmill.extensions.verify.child.checks import number_of
from gradmill.extensions.verify.child.formulas import Args, Formulas, Gradients

_MOST = 12  # elements of a tensor that are shown


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
    if tensor.numel() > _MOST or tensor.layout != torch.strided:
        return f"tensor of shape {shape}"
    kind = "" if tensor.dtype == torch.float64 else f", {str(tensor.dtype).removeprefix('torch.')}"
    return f"tensor({_rounded(tensor.detach().tolist())}{kind})"


def _rounded(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_rounded, value))}]"
    return number_of(value, 4) if isinstance(value, float | complex) else str(value)
