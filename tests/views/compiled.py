"""Backward of a few programs under compiled autograd, in a process of its own: `python compiled.py torch|core FOLDER`.

Prints for each whether its gradients are those of eager mode. The programs have no out-of-place `mul` or `add`, which
are torch's: compiled autograd knows Nodes by their names, so one process cannot have two that are called MulBackward0.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

TESTS = str(Path(__file__).resolve().parent.parent)
sys.path.insert(0, TESTS)

import torch  # noqa: E402
from cpp import extension  # noqa: E402
from torch import Tensor  # noqa: E402

from views.graphs import leaf, same  # noqa: E402
from views.operators import Ops, core_ops, torch_ops  # noqa: E402

Change = Callable[[Tensor, Tensor], Any]  # in place, of a base


def changes(ops: Ops) -> dict[str, Change]:
    def stacked(b: Tensor, y: Tensor) -> None:
        ops.mul_(b[0], y)
        ops.add_(b[:, 1], y[0])
        ops.copy_(b.t()[2], y[:2])

    return {
        "mul": lambda b, y: ops.mul_(b[0], y),
        "copy": lambda b, y: ops.copy_(b[1], y),
        "copy of all": ops.copy_,
        "stacked": stacked,
        "exp": lambda b, y: ops.exp_(b[1]),
        "sigmoid": lambda b, y: ops.sigmoid_(b[1]),
        "zero": lambda b, y: ops.zero_(b[1]),
    }


def gradients(change: Change, compiled: bool) -> list[Tensor | None]:
    from torch._dynamo import compiled_autograd

    t, y = leaf(2, 3), leaf(3, dtype=torch.float32, seed=2)
    b = t.clone()
    change(b, y)
    totals = [b.pow(2).sum(), b[1].sum()]
    with compiled_autograd._enable(torch.compile(backend="eager")) if compiled else nullcontext():
        torch.autograd.backward(totals)
    return [t.grad, y.grad]


if __name__ == "__main__":
    which, folder = sys.argv[1:]
    if which == "core":
        extension.load(Path(folder))
    ops = torch_ops() if which == "torch" else core_ops()
    print(json.dumps({name: same(gradients(c, True), gradients(c, False)) for name, c in changes(ops).items()}))
