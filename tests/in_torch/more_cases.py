"""Calls of operators that no sample of torch's and no case of `tests/cpp` reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_seed import seed_torch

from in_torch.calls import Call, left_out
from in_torch.toy import LAYOUTS, moved

aten: Any = torch.ops.aten
_NOT_FOR_TOYS = ("nested ", "q_scale", "qscheme", "_to_sparse", "set.", "set_.")  # how names begin


class More(NamedTuple):
    """All of them, in one of the parts."""

    part: int
    device: str = "cpu"

    def operators(self) -> Iterator[tuple[str, Iterator[Call]]]:
        if self.part == 0:
            for name in (*_VALUES, *_DERIVATIVES):
                yield f"call {name}", iter([self._call(name)])

    def _call(self, name: str) -> Call:
        if self.device != "cpu" and name.startswith(_NOT_FOR_TOYS):
            return left_out("0", LAYOUTS)
        if name in _VALUES:
            return Call("0", [], partial(_fresh, _VALUES[name]))
        function, *shapes = _DERIVATIVES[name]
        tensors = moved([numbers(*shape) for shape in shapes], self.device)
        return Call("0", tensors, function, checked=True)


def _fresh(function: Callable[[], Any]) -> Any:
    seed_torch(0)
    return function()


def numbers(*shape: int) -> Tensor:
    """The same ones at each call."""
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float64) * 0.37 - 0.5).reshape(shape)


def integers(*shape: int) -> Tensor:
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


def lists() -> list[Tensor]:
    return [numbers(3), numbers(2, 2)]


def _own(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """An operator that torch does not have, or what it would compute."""
    return getattr(aten, name) if hasattr(aten, name) else otherwise


def _nested(*members: Tensor) -> Tensor:
    return torch.nested.as_nested_tensor(list(members) or [numbers(2, 4), numbers(3, 4)])


def _quantized() -> Tensor:
    return torch.quantize_per_tensor(numbers(3).float(), 0.1, 0, torch.quint8)


def _zeroed(tensors: list[Tensor]) -> list[Tensor]:
    aten._foreach_zero_(tensors)
    return tensors


def _out_lists(function: Callable[..., Any], *arguments: Any) -> list[Tensor]:
    out = [torch.zeros_like(tensor) for tensor in arguments[0]]
    function(*arguments, out=out)
    return out


def _maxima() -> list[Tensor]:
    values, indices = numbers(4), integers(4)
    aten._cummax_helper(numbers(4), values, indices, 0)
    return [values, indices]


def _streamed() -> None:
    aten.record_stream(numbers(2), torch.Stream(numbers().device))


_VALUES: dict[str, Callable[[], Any]] = {
    "__ilshift__": lambda: aten.__ilshift__(integers(3), integers(3)),
    "all.dims_out": lambda: aten.all.dims_out(integers(2, 3).bool(), [0, 1], out=integers().bool()),
    "__lshift__.out": lambda: aten.__lshift__.Tensor_out(integers(3), integers(3), out=integers(3)),
    "_resize_output_": lambda: aten._resize_output_(numbers(0), [3], numbers().device).shape[0],
    "_resize_output.out": lambda: aten._resize_output.out(numbers(3), [3], numbers().device, out=numbers(3)),
    "_to_copy.out": lambda: aten._to_copy.out(numbers(3), out=numbers(3)),
    "_to_sparse.out": lambda: aten._to_sparse.out(numbers(3), out=numbers(3).to_sparse()),
    "adaptive_avg_pool3d_backward.grad_input": lambda: aten.adaptive_avg_pool3d_backward.grad_input(
        numbers(1, 1, 1, 1, 1), numbers(1, 1, 2, 2, 2), grad_input=numbers(1, 1, 2, 2, 2)
    ),
    "convolution_backward.out": lambda: aten.convolution_backward.out(
        *(numbers(1, 1, 2), numbers(1, 1, 3), numbers(1, 1, 2), [1], [1], [0], [1], False, [0], 1),
        [True, True, True],
        **{f"out{k}": numbers(0) for k in range(3)},
    ),
    "copy.out": lambda: aten.copy.out(numbers(3), numbers(3), out=numbers(3)),
    "detach_copy.out": lambda: aten.detach_copy.out(numbers(3), out=numbers(3)),
    "empty_like.out": lambda: aten.empty_like.out(numbers(3), out=numbers(3)).shape[0],
    "zeros_like.out": lambda: aten.zeros_like.out(numbers(3), out=numbers(3)),
    "isnan.out": lambda: aten.isnan.out(numbers(3), out=integers(3).bool()),
    "normal.out": lambda: aten.normal.out(numbers(3), out=numbers(3)),
    "rand.out": lambda: aten.rand.out([3], out=numbers(3)),
    "randint.low_out": lambda: aten.randint.low_out(0, 9, [3], out=integers(3)),
    "repeat_interleave.Tensor_out": lambda: aten.repeat_interleave.Tensor_out(integers(3), out=integers(3)),
    "resize.out": lambda: aten.resize.out(numbers(3), [3], out=numbers(3)),
    "scalar_tensor.out": lambda: aten.scalar_tensor.out(2.5, out=numbers()),
    "set_.source_Storage": lambda: aten.set_.source_Storage(numbers(3), numbers(3).untyped_storage()),
    "set.source_Storage_out": lambda: aten.set.source_Storage_out(
        numbers(3), numbers(3).untyped_storage(), out=numbers(3)
    ),
    "tril_indices.out": lambda: aten.tril_indices.out(3, 3, out=integers(2, 6)),
    "_cummax_helper": _maxima,
    "_foreach_addcmul.Tensor_out": lambda: _out_lists(
        aten._foreach_addcmul.Tensor_out, lists(), lists(), lists(), numbers(2).cpu()
    ),
    "_foreach_norm.Scalar_out": lambda: _out_lists(aten._foreach_norm.Scalar_out, lists()),
    "_foreach_zero_": lambda: _zeroed(lists()),
    "_foreach_zero.out": lambda: _out_lists(aten._foreach_zero.out, lists()),
    "q_scale": lambda: aten.q_scale(_quantized()),
    "qscheme": lambda: aten.qscheme(_quantized()),
    "record_stream": _streamed,
    "upsample_nearest1d.vec_out": lambda: getattr(aten.upsample_nearest1d, "vec_out", aten.upsample_nearest1d.out)(
        numbers(1, 1, 2), [3], None, out=numbers(1, 1, 3)
    ),
    "nested sum.out": lambda: aten.sum.IntList_out(_nested(), [-1], True, out=_nested()),
    "nested view_copy": lambda: aten.view_copy(_nested(), [2, -1, 2, 2]),
    "cube.out": lambda: _own("cube", lambda x, out: out.copy_(x**3))(numbers(3), out=numbers(3)),
    "weighted_norms": lambda: _own("weighted_norms", lambda xs, weights: [(x.norm() * 2) ** 2 for x in xs])(
        lists(), [2.0, 2.0]
    ),
}
# With the shapes of what is differentiated.
_DERIVATIVES: dict[str, Any] = {
    "scale_": (lambda x: _own("scale_", Tensor.mul_)(x.clone(), 2.5), (3,)),
    "_foreach_addcmul_.Tensor": (
        lambda x, y, z: _changed(aten._foreach_addcmul_.Tensor, [x.clone()], [y], [z], numbers(1).cpu()),
        *((3,), (3,), (3,)),
    ),
    "nested sum": (lambda x, y: _nested(x, y).sum([-1], True).unbind(), (2, 4), (3, 4)),
    "nested view": (lambda x, y: _nested(x, y).view(2, -1, 2, 2).unbind(), (2, 4), (3, 4)),
    "slice_inverse": (lambda x, y: aten.slice_inverse(x, y.expand(5).clone()[1:3], 0, 1, 3), (5,), (1,)),
}


def _changed(function: Callable[..., Any], first: list[Tensor], *others: Any) -> list[Tensor]:
    function(first, *others)
    return first
