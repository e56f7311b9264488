"""Calls from torch's own samples of its operators."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch_seed import seed_torch

from in_torch.calls import Call, bound, changing, left_out
from in_torch.described import op_db
from in_torch.toy import LAYOUTS, moved

_DTYPE = torch.float64


class Samples(NamedTuple):
    """Which of all calls are made."""

    limit: int  # samples of an operator
    only: Sequence[str] | None
    part: int
    parts: int
    device: str = "cpu"

    def operators(self) -> Iterator[tuple[str, Iterator[Call]]]:
        """Names of torch's descriptions of operators, with their calls."""
        for info in op_db:
            name = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
            if self._wanted(name) and _DTYPE in info.dtypes:
                yield f"torch {name}", self._calls(info, name)

    def _wanted(self, name: str) -> bool:
        if self.only is not None and name not in self.only:
            return False
        return zlib.crc32(name.encode()) % self.parts == self.part

    def _calls(self, info: Any, name: str) -> Iterator[Call]:
        seed_torch(zlib.crc32(name.encode()))
        samples = info.sample_inputs("cpu", _DTYPE, requires_grad=True)
        for number, sample in zip(range(self.limit), samples):
            values = moved((sample.input, sample.args, sample.kwargs), self.device)
            yield left_out(str(number), LAYOUTS) if values is None else _call(info, str(number), sample, values)


def _call(info: Any, name: str, sample: Any, values: tuple[Any, Any, Any]) -> Call:
    """A sample as a function of the tensors in it that have a gradient."""
    leaves = pytree.tree_leaves(values)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and leaf.requires_grad]
    tensors = [leaves[place].detach() for place in places]

    def function(*args: Any, **kwargs: Any) -> Any:
        return sample.output_process_fn_grad(info.op(*args, **kwargs))

    inplace = None
    if info.inplace_variant is not None and isinstance(values[0], Tensor) and places[:1] == [0]:
        inplace = bound(changing(info.inplace_variant), values, places)
    out = bound(info.op, values, places) if info.supports_out else None
    return Call(name, tensors, bound(function, values, places), inplace, out)
