"""Loads the toy backend and differentiates on it: `python use.py FOLDER`, after `python build.py FOLDER`."""

import sys
import types
from pathlib import Path

import torch


def load(folder: Path) -> None:
    """Registers the device `toy` and its operators `torch.ops.toy`."""
    torch.utils.rename_privateuse1_backend("toy")
    torch._register_device_module("toy", types.ModuleType("torch.toy"))
    torch.ops.load_library(str(folder.resolve() / "libtoy.so"))


def main(folder: Path) -> None:
    load(folder)
    x = torch.randn(3, 4, dtype=torch.float64).to("toy").requires_grad_()
    ops = torch.ops.toy
    functions = {
        "cube": ops.cube,
        "cube_": lambda t: ops.cube_(t.clone()),
        "cube_ of a row": lambda t: in_a_row(t.clone()),
        "row": lambda t: ops.row(t, 1),
        "_foreach_cube": lambda t: ops._foreach_cube([t, t * 2]),
        "gated": lambda t: ops.gated(t, 0.7),
        "shifted": lambda t: ops.shifted(t, 2.5),
        "mish": torch.nn.functional.mish,
    }
    for name, function in functions.items():
        result = function(x)
        first = result[0] if isinstance(result, (list, tuple)) else result
        assert torch.autograd.gradcheck(function, (x,)), name
        assert torch.autograd.gradgradcheck(function, (x,)), name
        print(f"{name}: {first.grad_fn.name()}, gradcheck and gradgradcheck pass")


def in_a_row(t: torch.Tensor) -> torch.Tensor:
    torch.ops.toy.cube_(torch.ops.toy.row(t, 1))
    return t


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/toy"))
