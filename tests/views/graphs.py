"""What tests of views ask of tensors and graphs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


def leaf(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 1) -> Tensor:
    """Numbers around one, that ask for a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator, dtype=dtype) * 0.3 + 1).requires_grad_()


def name(node: Any) -> str:
    """A Node's name without namespaces: a core Node has the name of torch's."""
    return str(node.name()).rpartition("::")[2]


def nexts(node: Any) -> list[Any]:
    return [following for following, _ in node.next_functions]


def nodes(root: Any) -> Iterator[Any]:
    """All Nodes that are reachable from one, each once."""
    seen: set[Any] = set()
    todo = [root]
    while todo:
        node = todo.pop(0)
        if node is not None and node not in seen:
            seen.add(node)
            todo += nexts(node)
            yield node


def chain(node: Any) -> list[str]:
    """The names along the first edges."""
    names = []
    while node is not None:
        names.append(name(node))
        node = nexts(node)[0] if nexts(node) else None
    return names


def same(gradients: Sequence[Tensor | None], wanted: Sequence[Tensor | None]) -> bool:
    """The same gradients, and the same ones missing."""
    return len(gradients) == len(wanted) and all(
        (a is None) == (b is None) and (a is None or b is None or (a.dtype == b.dtype and torch.allclose(a, b)))
        for a, b in zip(gradients, wanted)
    )


class Calls(TorchDispatchMode):
    """Which operators were computed."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func._schema.name.removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def replayed(on: bool) -> Iterator[None]:
    """Views are recorded as the operators that made them, although their strides would do."""
    if not on:
        yield
        return
    with torch.autograd._force_original_view_tracking(True):
        yield
