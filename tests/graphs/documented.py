"""The differences of graphs from eager that docs/graphs.md lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from gradmill.extensions.graphs.passes.functionalize import storage

LEAF = "a leaf Variable that requires grad is being used in an in-place operation"
REFUSED = (  # errors of a graph that eager does not have
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location",
    storage.DETACHED,
    "too many indices for tensor of dimension 0",
    storage.ITSELF,
)


def is_documented(difference: str, which: tuple[str, ...]) -> bool:
    """Whether a difference is an error of a graph; or a write to a view that was made before its base needed a
    gradient, which eager treats as a leaf."""
    if any(re.search(rf"graph: \w+: {re.escape(message)}", difference) for message in REFUSED):
        return True
    return "leaf" not in which and f"eager: RuntimeError: {LEAF}" in difference and "graph: no error" in difference


def is_undefined(function: Callable[..., Any], arguments: list[Any]) -> bool:
    """Whether an operator writes to memory and reads another part of it, before any error."""
    with _Overlaps() as overlaps, suppress(Exception):
        function(*arguments)
    return overlaps.detected


class _Overlaps(TorchDispatchMode):
    """Detects operators that write to memory and read another part of it."""

    detected = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        if tensors and func._schema.is_mutable:
            written, *others = tensors
            self.detected |= any(
                other.untyped_storage().data_ptr() == written.untyped_storage().data_ptr()
                and (other.data_ptr(), other.size(), other.stride())
                != (written.data_ptr(), written.size(), written.stride())
                for other in others
            )
        return func(*args, **(kwargs or {}))
