"""Calls from torch's samples of its operators, right ones and wrong ones.

The binding that a description names, as a function, a method or an operator in place, is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import torch
from in_torch.described import op_db
from torch import Tensor
from torch.utils import _pytree as pytree

from bindings_in_torch.arguments import make
from bindings_in_torch.rows import Row
from bindings_in_torch.tables import Pair

_DTYPES = (torch.float32, torch.complex64, torch.int64, torch.bool)
_OF_EACH_DTYPE = 2
_WRONG = 4


def calls(pairs: Mapping[int, Pair]) -> Iterator[tuple[Pair, Row]]:
    """The calls of samples, of descriptions that name a binding; `pairs` by the identity of torch's binding."""
    for info in op_db:
        variants = [info.op, info.method_variant, info.inplace_variant, info.operator_variant]
        callees = [pairs[id(variant)] for variant in variants if id(variant) in pairs]
        if callees:
            yield from _calls(info, callees)


def _calls(info: Any, pairs: list[Pair]) -> Iterator[tuple[Pair, Row]]:
    for what, sample in _samples(info):
        args, kwargs = (_copied(sample.input), *map(_copied, sample.args)), _copied(sample.kwargs)
        for pair in pairs:
            yield pair, Row(pair.name, what, args, kwargs)
        if info.supports_out and "wrong" not in what:
            yield from _with_out(info, pairs[0], what, sample)


def _with_out(info: Any, pair: Pair, what: str, sample: Any) -> Iterator[tuple[Pair, Row]]:
    """The call of a sample without gradients, with tensors for the results."""
    plain = pytree.tree_map_only(Tensor, Tensor.detach, (sample.input, sample.args, sample.kwargs))
    out = _zeros(info, *plain)
    if out is not None:
        first, args, kwargs = _copied(plain)
        yield pair, Row(pair.name, f"{what}, out", (first, *args), kwargs | {"out": _copied(out)})


def _samples(info: Any) -> Iterator[tuple[str, Any]]:
    """The samples of an operator, of some dtypes. Python code that makes samples fails for some dtypes."""
    torch.manual_seed(0)
    for dtype in (dtype for dtype in _DTYPES if dtype in info.dtypes):
        differentiable = dtype.is_floating_point or dtype.is_complex
        samples = info.sample_inputs("cpu", dtype, requires_grad=differentiable and info.supports_autograd)
        for number, sample in enumerate(islice(samples, _OF_EACH_DTYPE)):
            yield f"sample {number} of {dtype}", sample
    if info.error_inputs_func is not None:
        for number, error in enumerate(islice(info.error_inputs("cpu"), _WRONG)):
            yield f"wrong sample {number}", error.sample_input


def _zeros(info: Any, first: Any, args: Any, kwargs: Any) -> Any:
    """Tensors like the results, filled with zeros; None where the result is something else, or an error."""
    with torch.no_grad(), suppress(Exception):
        result = info.op(first, *args, **kwargs)
        if isinstance(result, Tensor):
            return torch.zeros_like(result)
        if isinstance(result, tuple) and all(isinstance(member, Tensor) for member in result):
            return tuple(torch.zeros_like(member) for member in result)
    return None


def _copied(value: Any) -> Any:
    """Arguments as descriptions of copies of them."""
    return pytree.tree_map_only(Tensor, lambda tensor: make(_copy, tensor), value)


def _copy(tensor: Tensor) -> Tensor:
    """The same numbers at the same strides."""
    with torch.no_grad():
        if tensor.layout != torch.strided or tensor.is_nested or tensor.is_meta or tensor.is_quantized:
            copy = tensor.detach().clone()
        else:
            last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) + 1
            size = max(last, 0) if tensor.numel() else 0
            plain = tensor.detach().resolve_conj().resolve_neg()
            copy = torch.zeros(size, dtype=plain.dtype).as_strided(plain.shape, tensor.stride())
            copy = plain.clone() if 0 in tensor.stride() else copy.copy_(plain)
    return copy.requires_grad_(tensor.requires_grad)
