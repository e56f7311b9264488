"""The in-place operators under test: torch's own, over the kernels of this process, and those with the core Nodes."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

VARIABLE = "GRADMILL_KERNELS"  # a library to load, whose kernels replace torch's

# The operators that the tests are about. What they do in between may stay with torch.
USED = """
    mul_.Tensor add_.Tensor exp_ sigmoid_ zero_ fill_.Scalar copy_ clone select.int slice.Tensor t transpose.int view
    unsqueeze as_strided view_as_real
""".split()

_KEYS = ("AutogradCPU: ", "ADInplaceOrView: ")


class Ops(NamedTuple):
    """In-place operators by name: `ops.mul_(x, y)`."""

    name: str
    functions: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.functions[name]

    @property
    def is_torch(self) -> bool:
        return self.name == "torch"


INPLACE = ("mul_", "add_", "exp_", "sigmoid_", "zero_", "fill_", "copy_")


def torch_ops() -> Ops:
    """torch's own operators."""
    return Ops("torch", {name: getattr(Tensor, name) for name in INPLACE})


def core_ops() -> Ops:
    """The operators of tests/cpp/views.cpp; their library is loaded."""
    return Ops("core", {name: getattr(torch.ops.gradmill_views, name) for name in INPLACE})


class Kernels(NamedTuple):
    """Where the kernels in this process come from."""

    library: str  # "" for torch's alone
    replaced: tuple[str, ...]  # of the operators used, those that have a kernel of the library

    def __str__(self) -> str:
        mine = f"{len(self.replaced)} of {len(USED)} from {self.library}" if self.library else "all of torch"
        return f"{mine}, torch {torch.__version__}"


@cache
def kernels() -> Kernels:
    """Loads the library that replaces kernels, if one is given."""
    path = os.environ.get(VARIABLE, "")
    if not path:
        return Kernels("", ())
    before = {operator: _registered(operator) for operator in USED}
    torch.ops.load_library(str(Path(path).resolve()))
    return Kernels(path, tuple(operator for operator in USED if _registered(operator) != before[operator]))


def _registered(operator: str) -> list[str]:
    """What would run for tensors of the CPU, above the computation itself: lines that name file and line."""
    table = torch._C._dispatch_dump_table(f"aten::{operator}").splitlines()
    return [line for line in table if line.startswith(_KEYS)]
