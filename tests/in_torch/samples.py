"""The calls: torch's own samples of its operators, and the cases of `tests/cpp`."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

from in_torch.calls import Call

_DTYPE = torch.float64


class Samples(NamedTuple):
    """Which of all calls are made."""

    limit: int  # samples of an operator
    only: Sequence[str] | None
    part: int
    parts: int

    def operators(self) -> Iterator[tuple[str, Iterator[Call]]]:
        """Names of torch's descriptions of operators, with their calls."""
        for info in op_db:
            name = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
            if self._wanted(name) and _DTYPE in info.dtypes:
                yield name, self._calls(info, name)

    def _wanted(self, name: str) -> bool:
        if self.only is not None and name not in self.only:
            return False
        return zlib.crc32(name.encode()) % self.parts == self.part

    def _calls(self, info: Any, name: str) -> Iterator[Call]:
        torch.manual_seed(zlib.crc32(name.encode()))
        samples = info.sample_inputs("cpu", _DTYPE, requires_grad=True)
        for number, sample in zip(range(self.limit), samples):
            yield _call(info, str(number), sample)


def _call(info: Any, name: str, sample: Any) -> Call:
    """A sample as a function of the tensors in it that have a gradient."""
    given, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [i for i, leaf in enumerate(given) if isinstance(leaf, Tensor) and leaf.requires_grad]
    first = isinstance(sample.input, Tensor) and bool(places) and places[0] == 0

    def bound(function: Any) -> Any:
        def call(*tensors: Tensor, **more: Any) -> Any:
            filled = list(given)
            for place, tensor in zip(places, tensors):
                filled[place] = tensor
            start, args, kwargs = pytree.tree_unflatten(filled, spec)
            return sample.output_process_fn_grad(function(start, *args, **kwargs, **more))

        return call

    inplace = bound(info.inplace_variant) if info.inplace_variant is not None and first else None
    out = bound(info.op) if info.supports_out else None
    return Call(name, [given[place].detach() for place in places], bound(info.op), inplace, out)
