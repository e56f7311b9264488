"""The in-place operators under test: torch's own, and those with the core Nodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor


class Ops(NamedTuple):
    """In-place operators by name: `ops.mul_(x, y)`."""

    functions: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.functions[name]


INPLACE = ("mul_", "add_", "exp_", "sigmoid_", "zero_", "fill_", "copy_")


def torch_ops() -> Ops:
    """torch's own operators."""
    return Ops({name: getattr(Tensor, name) for name in INPLACE})


def core_ops() -> Ops:
    """The operators of tests/cpp/views.cpp; their library is loaded."""
    return Ops({name: getattr(torch.ops.gradmill_views, name) for name in INPLACE})
