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
    ops, target = torch.ops.toy, torch.ones(4).to("toy")
    assert torch._C._dispatch_has_kernel_for_dispatch_key("aten::mm", "PrivateUse1")
    functions = {
        "cube": ops.cube,
        "cube_": lambda t: ops.cube_(t.clone()),
        "cube_ of a row": lambda t: in_a_row(t.clone()),
        "row": lambda t: ops.row(t, 1),
        "_foreach_cube": lambda t: ops._foreach_cube([t, t * 2]),
        "gated": lambda t: ops.gated(t, 0.7)[0],
        "shifted": lambda t: ops.shifted(t, 2.5),
        "mish": torch.nn.functional.mish,
        "mm": lambda t: t.mm(t.t()),
        "relu": torch.relu,
        "squared_error": lambda t: ops.squared_error(t, target),
    }
    for name, function in functions.items():
        result = function(x)
        first = result[0] if isinstance(result, (list, tuple)) else result
        forward = name not in ("gated", "mish")  # they have no forward formula
        assert torch.autograd.gradcheck(function, (x,), check_forward_ad=forward), name
        assert torch.autograd.gradgradcheck(function, (x,), check_fwd_over_rev=forward), name
        print(f"{name}: {first.grad_fn.name()}, gradcheck and gradgradcheck pass")
    check_mm(x.detach())


def check_mm(x: torch.Tensor) -> None:
    """The out variant of the structured kernel: it resizes, keeps strides, and rejects another type."""
    expected = x.cpu() @ x.cpu().t()
    resized = torch.mm(x, x.t(), out=x.new_empty(0))
    strided = x.new_empty(3, 6)[:, ::2]
    torch.mm(x, x.t(), out=strided)
    for actual in (resized, strided):
        torch.testing.assert_close(actual.cpu(), expected)
    try:
        torch.mm(x, x.t(), out=x.new_empty(0, dtype=torch.float32))
    except RuntimeError as error:
        assert "Expected out tensor to have dtype double" in str(error), error
    else:
        raise AssertionError("a result of another type")
    print("mm.out: resized, strided, rejected")


def in_a_row(t: torch.Tensor) -> torch.Tensor:
    torch.ops.toy.cube_(torch.ops.toy.row(t, 1))
    return t


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/toy"))
