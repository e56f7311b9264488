"""The functions and methods that PyTorch implements in Python: those of `prelude.py`, by name, and others."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

_TEXT = Path(__file__).with_name("prelude.py").read_text(encoding="utf-8")

Functions = dict[str, ast.FunctionDef]


@cache
def functions(of: str) -> Functions:
    """The definitions for a module or class of torch, `torch.nn.functional`; "" for those that only others call."""
    body = ast.parse(_TEXT).body
    of_classes = {ast.get_docstring(each): each.body for each in body if isinstance(each, ast.ClassDef)}
    found: Functions = {}
    for each in of_classes.get(of, []) if of else body:
        if isinstance(each, ast.FunctionDef):
            found[each.name] = each
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Attribute):  # the same as one of torch
            found[each.value.attr] = functions("torch")[each.value.attr]
    return found


# Functions that torch computes in Python from sizes or with random numbers: the hint on what to write instead.
_SAMPLES = (
    "write torch.ops.aten.fractional_max_pool{}d(x, kernel_size, output_size, samples)[0], samples being an input"
)
_OUTSIDE = "take gradients outside of the graph"
_CHECKPOINT = "call the function itself, and generate with memory=0.5: the backward computes values again"
_EXPORT = "export a model with it: torch.export keeps it in the .pt2"
REFUSED = {
    "torch.utils.checkpoint.checkpoint": _CHECKPOINT,
    "torch.utils.checkpoint.checkpoint_sequential": _CHECKPOINT,
    "torch.cond": _EXPORT,
    "torch.autograd.grad": _OUTSIDE,
    "torch.autograd.backward": _OUTSIDE,
    "torch.nn.functional.fractional_max_pool2d": _SAMPLES.format(2),
    "torch.nn.functional.fractional_max_pool3d": _SAMPLES.format(3),
    "torch.nn.functional.max_unpool2d": "write torch.ops.aten.max_unpool2d(x, indices, output_size)",
    "torch.nn.functional.max_unpool3d": "write torch.ops.aten.max_unpool3d(x, indices, output_size, stride, padding)",
}

# Methods without arguments that return numbers or shapes: `python::…`.
MEASURES = {
    "dim": "dim",
    "ndimension": "dim",
    "numel": "numel",
    "nelement": "numel",
    "storage_offset": "storage_offset",
    "stride": "strides",
}
