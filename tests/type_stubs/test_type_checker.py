"""What a type checker makes of generated stubs: they are the whole package torch, with the few types that they name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli.test_generate_code import make

from type_stubs.stub_checkouts import TEMPLATES, add_stubs

NATIVE = "aten/src/ATen/native/native_functions.yaml"
TYPES = """\
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Final, Literal, NoReturn, Self, overload
import torch
from torch import Tensor

Number = int | float | bool
_size = Sequence[int]
DeviceLikeType = str | int
class SymInt: ...
class Generator: ...
class memory_format: ...
class _dtype: ...
class _layout: ...
strided: _layout
__all__ = [
    "Any", "DeviceLikeType", "EllipsisType", "Final", "Generator", "Literal", "NoReturn", "Number", "Self", "Sequence",
    "SymInt", "Tensor", "_bool", "_complex", "_dtype", "_float", "_int", "_layout", "_size", "memory_format",
    "overload", "strided", "torch",
]
"""
PACKAGE = """\
from torch import return_types as return_types
from torch._C import TensorBase
from torch._C._VariableFunctions import *

class Tensor(TensorBase): ...
"""
ENTRY = """
- func: pair(Tensor self, int[2] size=[1,2], *, str mode="a", Tensor? weight=None) -> (Tensor values, int number)
  variants: function, method
  dispatch:
    CompositeExplicitAutograd: pair
"""
PROGRAM = """\
from typing import assert_type

import torch
from torch import Tensor


def unary(x: Tensor) -> Tensor:
    torch.exp(x, out=x)
    return torch.sigmoid(x.exp().neg_())


def overloads(x: Tensor) -> Tensor:
    y = torch.mul(x.pow(2), torch.pow(x, x)) if x.is_cpu else torch.clamp(x, min=0, max=1.5)
    assert_type(torch.mean(x), Tensor)
    return y.mean(dim=(0, 1), keepdim=True)


def sizes(x: Tensor) -> Tensor:
    return x.view(2, -1).view([3]).transpose(0, 1)


def named(x: Tensor) -> int:
    values, number = torch.pair(x)
    assert_type(values, Tensor)
    assert_type(x.pair((3, 4), mode="b", weight=x).number, int)
    assert_type(torch.pair(x), torch.return_types.pair)
    return number


def lists(xs: list[Tensor]) -> Tensor:
    torch._foreach_mul_(xs, 2)
    assert_type(torch._foreach_add(xs, (1.0, 2)), tuple[Tensor, ...])
    return torch.cat(xs, dim=1)


def by_hand() -> Tensor:
    return torch.tensor([1], dtype=None, device="cpu")
"""
WRONG = """\
import torch

x = torch.tensor(1)
torch.exp(1)
torch.pair(x, other=1)
x.pair().first
x.exps()
torch.pow(x, "2")
"""


@pytest.mark.slow(20)
def test_a_type_checker_accepts_programs_and_refuses_wrong_ones(
    small_specs: Path, torch_specs: Path, tmp_path: Path
) -> None:
    """With an operator that was added; what it refuses is what is wrong."""
    pytest.importorskip("mypy")
    checkout = make(tmp_path / "pytorch", small_specs.joinpath, torch_specs)
    add_stubs(checkout.root)
    with (checkout.root / NATIVE).open("a") as file:
        file.write(ENTRY)
    for name, text in TEMPLATES.items():
        (checkout.root / name).write_text(text.replace("_comment}\n", "_comment}\nfrom torch.types import *\n", 1))
    checkout.run("pyi", "--out", str(tmp_path)).clean()
    (tmp_path / "torch/types.pyi").write_text(TYPES)
    (tmp_path / "torch/__init__.pyi").write_text(PACKAGE)
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    options = ("--strict", "--cache-dir=/dev/null", "--no-color-output", "--no-error-summary")
    command = [sys.executable, "-m", "mypy", *options, "right.py", "wrong.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    errors = [line.split(": error: ") for line in found.stdout.splitlines() if ": error: " in line]
    print(found.stdout + found.stderr)
    assert [place for place, _ in errors] == [f"wrong.py:{line}" for line in range(4, 9)]
