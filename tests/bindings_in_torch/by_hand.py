"""Calls written down, by what is special about them: what no schema and no sample of torch's shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bindings_in_torch.arguments import Made, generator, integers, make, tensor
from bindings_in_torch.rows import Row

# Matrices, vectors, batches: none is like another, so that no order of arguments is like another.
_M, _N, _P = tensor(3, 3), tensor(3, 3, start=0.9, step=-0.11), tensor(3, 3, start=-0.3, step=0.2)
_V, _W, _U = tensor(3), tensor(3, start=0.8, step=-0.3), tensor(3, start=-0.5, step=0.4)
_B, _C, _E = tensor(2, 3, 3), tensor(2, 3, 3, start=0.9, step=-0.1), tensor(2, 3, 3, start=-0.3, step=0.2)
_I = integers(3)
_LEAF = tensor(3, 3, requires_grad=True)
_D = tensor(3, 3, dtype=torch.float64)
_EMPTY = tensor(0)


class Overriding:
    """An object that is no tensor, and answers for itself."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return (func.__name__, [kind.__name__ for kind in types], len(args), sorted(kwargs or {}))


class Declining(Overriding):
    """An object that answers nothing."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class Counted(Tensor):
    """A tensor whose results are of its class."""


class Index:
    """A number by `__index__`."""

    def __index__(self) -> int:
        return 1


def symbol(value: int) -> torch.SymInt:
    """A symbolic size with a hint."""
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

    env = ShapeEnv()
    name = ConstantSource("size")
    number = env.create_symbol(value, source=name, dynamic_dim=DimDynamic.DYNAMIC)
    return env.create_symintnode(number, hint=value, source=name)


def _counted() -> Tensor:
    return torch.ones(3, 3).as_subclass(Counted)


def _sparse() -> Tensor:
    return torch.eye(3).to_sparse()


def _quantized() -> Tensor:
    return torch.quantize_per_tensor(torch.arange(4.0), 0.1, 2, torch.quint8)


def _permuted() -> Tensor:
    return torch.arange(16.0).reshape(1, 2, 2, 4).to(memory_format=torch.channels_last)


_OBJECT, _DECLINES, _SUBCLASS, _SYMBOL = make(Overriding), make(Declining), make(_counted), make(symbol, 3)
_SPARSE, _QUANTIZED, _PERMUTED = make(_sparse), make(_quantized), make(_permuted)
_META = make(torch.ones, 3, 3, device="meta")
_SYMBOLIC = make(torch.ones, _SYMBOL, 4, device="meta")
_OUTS = (tensor(3), integers(3))

_Call = tuple[Any, ...]  # a binding, its arguments; last a dictionary, where there are keywords

_DEPRECATED: list[_Call] = [
    *(
        (f"{table}{name}", *first, *rest)
        for name, own, others in (
            ("addmm", _M, (_N, _P)),
            ("addmv", _V, (_N, _W)),
            ("addr", _M, (_V, _W)),
            ("addbmm", _M, (_B, _C)),
            ("baddbmm", _B, (_C, _E)),
        )
        for table, first, rest in (
            ("torch.", (2, own, 3), others),
            ("torch.", (2, own), others),
            ("torch.", (2, own, 3), (*others, {"out": own})),
            ("torch.", (2, own), (*others, {"out": own})),
            ("Tensor.", (own, 2, 3), others),
            ("Tensor.", (own, 2), others),
        )
    ),
    *(
        (f"Tensor.{name}_", own, 2, 3, *others)
        for name, own, others in (("addmm", _M, (_N, _P)), ("addr", _M, (_V, _W)))
    ),
    *((f"torch.{name}", _M, 2, _N, _P) for name in ("addcmul", "addcdiv")),
    *((f"torch.{name}", _M, 2, _N, _P, {"out": _M}) for name in ("addcmul", "addcdiv")),
    *((f"Tensor.{name}", _M, 2, _N, _P) for name in ("addcmul", "addcmul_", "addcdiv", "addcdiv_")),
    *((f"torch.{name}", _M, 2, _N) for name in ("add", "sub")),
    *((f"torch.{name}", _M, 2, _N, {"out": _M}) for name in ("add", "sub")),
    *((f"Tensor.{name}", _M, 2, _N) for name in ("add", "add_", "sub", "sub_")),
    ("torch.sspaddmm", 2, _SPARSE, 3, _SPARSE, _M),
    ("torch.addmm", {"beta": 2, "input": _M, "alpha": 3, "mat1": _N, "mat2": _P}),
    ("Tensor.add", _M, {"alpha": 2, "other": _M}),
]
_NAMED_RESULTS: list[_Call] = [
    *((f"torch.{name}", _M, 0) for name in "max min sort topk kthvalue mode median nanmedian cummax cummin".split()),
    *((f"Tensor.{name}", _M, 1, True) for name in ("max", "min", "sort", "mode", "median", "nanmedian")),
    *((f"torch.{name}", _M, 0, {"out": _OUTS}) for name in ("max", "min", "mode", "median", "nanmedian")),
    *((f"torch.{name}", _M, 0, {"out": list(_OUTS)}) for name in ("max", "min")),
    *(
        (f"torch.{name}", _M, 0, {"out": out})
        for name in ("max", "sort")
        for out in (_M, (_M,), (_M, None), (*_OUTS, _M))
    ),
    *((f"torch.{name}", _LEAF) for name in ("aminmax", "frexp", "slogdet", "svd", "qr", "geqrf", "logdet")),
    ("torch.aminmax", _M, {"dim": 0, "keepdim": True, "out": (tensor(1, 3), tensor(1, 3))}),
    ("torch.frexp", _M, {"out": (tensor(3, 3), integers(3, 3, dtype=torch.int32))}),
    ("torch.histogram", _V, 4, {"range": (0.0, 1.0), "density": True}),
    ("torch.histogram", _V, tensor(4), {"weight": _V}),
    ("torch.histogramdd", tensor(3, 2), [2, 3]),
    ("torch.triangular_solve", _M, _N, {"upper": False}),
    ("torch.lu_unpack", _M, integers(3, dtype=torch.int32), False),
    ("torch.topk", _M, 2, {"largest": False, "sorted": True, "dim": -1}),
    ("torch.kthvalue", _M, 5),
    ("torch.sort", _M, {"stable": True, "descending": True, "dim": 0}),
    ("torch.sort", _M, 0, True),
    ("Tensor.svd", _M, {"some": False, "compute_uv": False}),
    *((f"linalg.linalg_{name}", _M) for name in ("qr", "eig", "eigh", "svd", "slogdet", "lu", "lu_factor", "inv_ex")),
    *((f"linalg.linalg_{name}", _M) for name in ("cholesky_ex", "lu_factor_ex", "ldl_factor", "ldl_factor_ex", "det")),
    ("linalg.linalg_qr", _M, "r"),
    ("linalg.linalg_qr", _M, {"mode": "complete", "out": (_EMPTY, _EMPTY)}),
    ("linalg.linalg_qr", {"A": _M, "mode": "nothing"}),
    ("linalg.linalg_svd", _M, {"full_matrices": False, "driver": "gesvd"}),
    ("linalg.linalg_svd", tensor(2, 3), False),
    ("linalg.linalg_svd", tensor(2, 3), {"full_matrices": True}),
    ("linalg.linalg_lstsq", _M, _V, {"rcond": 0.1, "driver": "gelsd"}),
    ("linalg.linalg_lstsq", _M, _N, {"out": (_EMPTY, _EMPTY, integers(0), _EMPTY)}),
    ("linalg.linalg_solve_ex", _M, _V, {"left": True, "check_errors": True}),
    ("linalg.linalg_cholesky_ex", _M, {"upper": True, "check_errors": True}),
]
_OPTIONS: list[dict[str, Any]] = [
    {},
    {"dtype": torch.float64},
    {"dtype": torch.complex64, "requires_grad": True},
    {"dtype": torch.int32, "device": "cpu"},
    {"dtype": None, "device": None, "layout": None, "pin_memory": None, "requires_grad": False},
    {"device": torch.device("meta"), "layout": torch.strided},
    {"layout": torch.sparse_coo},
    {"dtype": torch.int64, "requires_grad": True},
    {"dtype": float},
    {"dtype": "float32"},
    {"device": "nowhere"},
    {"device": "cpu:-2"},
    {"device": 5.0},
    {"layout": "strided"},
    {"pin_memory": 1},
    {"requires_grad": 1},
    {"requires_grad": None},
]
_FACTORIES: list[_Call] = [
    *(
        (name, *args, options)
        for name, args in (
            ("torch.zeros", (2, 3)),
            ("torch.ones", ([2, 3],)),
            ("torch.full", ((2, 3), 2)),
            ("torch.empty", (torch.Size([2, 3]),)),
            ("torch.randn", (2, 3)),
            ("torch.arange", (0, 4, 2)),
            ("torch.linspace", (0, 1, 3)),
            ("torch.eye", (2, 3)),
            ("torch.zeros_like", (_M,)),
            ("Tensor.new_zeros", (_M, (2, 3))),
            ("Tensor.new_full", (_M, (2, 3), 2.5)),
        )
        for options in _OPTIONS
    ),
    *((name, 2, 3, {"generator": generator()}) for name in ("torch.rand", "torch.randn")),
    *((name, 2, 3, {"generator": None}) for name in ("torch.rand", "torch.randn")),
    *((name, 2, 3, {"out": tensor(2, 3), "dtype": torch.float64}) for name in ("torch.zeros", "torch.rand")),
    *((name, 2, 3, {"out": tensor(2, 3)}) for name in ("torch.zeros", "torch.ones", "torch.empty", "torch.rand")),
    *((name, 2, 3, {"out": tensor(2, 3), "requires_grad": True}) for name in ("torch.zeros", "torch.rand")),
    *((name, 2, 3, {"out": tensor(2, 3), "device": "meta"}) for name in ("torch.zeros", "torch.eye")),
    ("torch.zeros", {"size": (2, 3)}),
    ("torch.zeros", ()),
    ("torch.zeros", (2, 3.0)),
    ("torch.zeros", 2, "3"),
    ("torch.zeros", -1),
    ("torch.zeros", 2**70),
    ("torch.zeros", True),
    ("torch.zeros", make(Index)),
    ("torch.zeros", make(np.int64, 2), make(np.int32, 3)),
    ("torch.zeros", make(torch.tensor, 2), 3),
    ("torch.zeros", [make(torch.tensor, 2), make(torch.tensor, 3)]),
    ("torch.zeros", [2, make(torch.tensor, 3.0)]),
    ("torch.zeros", {"size": 2}),
    ("torch.full", (2,), True),
    ("torch.full", (2,), 1j),
    ("torch.full", (2,), make(torch.tensor, 2.5)),
    ("torch.full", (2,), 2, {"out": tensor(2)}),
    ("torch.full", (2,), "x"),
    ("torch.full", (2,)),
    ("torch.full", {"size": (2,), "fill_value": 3}),
    ("torch.arange", 3),
    ("torch.arange", 3.5),
    ("torch.arange", 1, 3),
    ("torch.arange", {"end": 3}),
    ("torch.arange", 1, {"end": 3, "step": 0.5}),
    ("torch.arange", 3, {"out": integers(0)}),
    ("torch.arange", make(torch.tensor, 3)),
    ("torch.arange", None),
    ("torch.arange", 3, 1),
    ("torch.arange", True),
    ("torch.randint", 5, (3,)),
    ("torch.randint", 2, 5, (3,), {"dtype": torch.int32, "generator": generator()}),
    ("torch.randint", {"high": 5, "size": [2, 2]}),
    ("torch.randint", 5, 2, (3,)),
    ("torch.randint", 5, 3),
    ("torch.randperm", 4, {"generator": generator(), "dtype": torch.int32}),
    ("torch.randperm", 4, {"generator": 3}),
    ("torch.normal", 0.0, 1.0, (3,)),
    ("torch.normal", _V, 0.5, {"generator": generator()}),
    ("torch.normal", 0.5, _V),
    ("torch.normal", _V, _W, {"out": tensor(3)}),
    ("torch.normal", 0, 1, 3),
    ("torch.logspace", 0, 1, 3, 2.0),
    ("torch.linspace", _V, 1, 3),
    ("torch.linspace", make(torch.tensor, 0.0), make(torch.tensor, 1.0), {"steps": 3}),
    ("torch.empty_strided", (2, 3), (1, 2), {"dtype": torch.int32}),
    ("torch.empty_strided", (2, 3), (1,)),
    ("torch.empty_like", _PERMUTED, {"memory_format": torch.preserve_format}),
    ("torch.empty_like", _PERMUTED, {"memory_format": torch.contiguous_format, "requires_grad": True}),
    ("torch.empty_like", _M, {"memory_format": "contiguous"}),
    ("torch.empty", 1, 2, 2, 4, {"memory_format": torch.channels_last}),
    ("torch.empty_permuted", (2, 3), (1, 0)),
    ("torch.scalar_tensor", 2.5, {"dtype": torch.float16}),
    ("torch.tril_indices", 3, 3, 1, {"dtype": torch.int32}),
    *((f"torch.{name}", 4, {"periodic": False, "dtype": torch.float64}) for name in ("hann_window", "bartlett_window")),
    *((f"torch.{name}", 4, False) for name in ("hamming_window", "blackman_window", "kaiser_window")),
    ("torch.complex", _M, _N),
    ("torch.polar", _M, _N, {"out": make(torch.zeros, 3, 3, dtype=torch.complex64)}),
    ("Tensor.new_empty", _D, 2, 3),
    ("Tensor.new_ones", _D, (2,), {"dtype": torch.bool}),
    ("Tensor.new_empty_strided", _D, (2, 3), (3, 1)),
]
_NUMBERS: list[Any] = [
    2,
    2.5,
    1j,
    True,
    2**62,
    2**63,
    -(2**63) - 1,
    2**70,
    math.nan,
    -math.inf,
    make(np.float32, 1.5),
    make(np.int8, 3),
    make(np.bool_, True),
    make(np.complex128, 2j),
    make(np.array, 2.5),
    make(torch.tensor, 2.5),
    make(torch.tensor, 2, requires_grad=False),
    make(torch.tensor, [2.5]),
    make(Index),
    "2",
    b"2",
    None,
    [2],
    (2,),
    {},
    int,
    torch.float32,
]
_SCALARS: list[_Call] = [
    *((name, _M, number) for name in ("torch.add", "Tensor.mul_", "Tensor.__sub__") for number in _NUMBERS),
    *(("torch.pow", number, _M) for number in _NUMBERS[:12]),
    *(("torch.clamp", _M, number, {"max": number}) for number in _NUMBERS[:14]),
    *(("torch.full_like", _M, number) for number in _NUMBERS),
    *(("torch.add", integers(3), integers(3), {"alpha": number}) for number in _NUMBERS[:12]),
    *(("Tensor.fill_", _M, number) for number in _NUMBERS),
    *(("torch.select", _M, 0, number) for number in _NUMBERS),
    *(("torch.dropout", _M, number, False) for number in _NUMBERS),
    *(("torch.sum", _M, 0, number) for number in _NUMBERS),
]
_LISTS: list[_Call] = [
    *(("torch.sum", _M, {"dim": dim}) for dim in (0, (0,), [0, 1], (), None, -1, 5, (0, 0), "a", 0.0, True, [None])),
    *(("torch.cat", tensors) for tensors in ([_M, _N], (_M, _N), [], [_M, None], [_M, 3], _M, None, [[_M]], ([_M],))),
    ("torch.cat", [_M, _N], 1),
    ("torch.cat", [_M, _N], {"dim": 1, "out": tensor(3, 6)}),
    ("torch.cat", {"tensors": [_M, _N], "dim": -1}),
    ("torch.cat", {"tensors": [_M, _D]}),
    ("torch.stack", make(iter, [])),
    *(
        ("Tensor.view", _M, *size)
        for size in ((9,), (-1,), ([9],), ((1, 9),), (torch.Size([9]),), (1, -1), (-1, -1), ())
    ),
    *(("Tensor.view", _M, kind) for kind in (torch.int32, torch.float16, torch.float64)),
    *(("Tensor.permute", _M, *dims) for dims in ((1, 0), ((1, 0),), ([1, 0],), (0,), (0, 0), (0, "1"))),
    *(
        (f"Tensor.{name}", _M, *sizes)
        for name in ("reshape", "expand", "repeat", "tile")
        for sizes in ((3, 3), ((3, 3),))
    ),
    *((f"Tensor.{name}", _M, 3, 3.5) for name in ("reshape", "expand", "repeat", "view", "permute")),
    *(("torch.flip", _M, dims) for dims in (0, (0, 1), [0, 0], ())),
    ("torch.split_with_sizes", _M, [1, 2], 1),
    ("torch.split_with_sizes", _M, (1, 1)),
    ("torch.tensor_split", _M, 2),
    ("torch.tensor_split", _M, (1, 2), 1),
    ("torch.tensor_split", _M, integers(2)),
    ("torch.index_put", _M, [_I], _V),
    ("torch.index_put", _M, [None, _I], _V, True),
    ("torch.index_put", _M, (_I,), {"values": _V, "accumulate": False}),
    ("torch.index_put", _M, _I, _V),
    ("torch.roll", _M, 1),
    ("torch.roll", _M, (1, 2), (0, 1)),
    ("torch.roll", _M, {"shifts": 1, "dims": 0}),
    ("torch.movedim", _B, (0, 1), (1, 0)),
    ("torch.movedim", _B, 0, -1),
    ("torch.conv2d", tensor(1, 1, 4, 4), tensor(1, 1, 2, 2), {"stride": 2, "padding": (1, 0)}),
    ("torch.conv2d", tensor(1, 1, 4, 4), tensor(1, 1, 2, 2), None, 1, "same"),
    ("torch.conv2d", tensor(1, 1, 4, 4), tensor(1, 1, 2, 2), None, 1, "other"),
    ("torch.conv2d", tensor(1, 1, 4, 4), tensor(1, 1, 2, 2), None, 1, (1, 2, 3)),
    ("torch.bucketize", _M, _V, {"right": True, "out_int32": True}),
    ("torch.bucketize", 0.2, _V),
    ("torch.meshgrid", [_V, _W], {"indexing": "xy"}),
    ("torch.einsum", "ij,jk->ik", [_M, _N]),
    ("torch.einsum", "ij,jk->ik", [_M, _N], {"path": [0, 1]}),
    ("torch.block_diag", [_M, _N]),
    ("torch.broadcast_tensors", [_M, _V]),
    ("torch.quantile", _M, 0.5, {"interpolation": "nearest"}),
    ("torch.quantile", _M, tensor(2), {"dim": 1, "keepdim": True}),
    ("torch._foreach_add", [_M, _V], 2),
    ("torch._foreach_add", [_M, _V], [2, 0.5]),
    ("torch._foreach_add", [_M, _V], [_M, _V], {"alpha": 2}),
    ("torch._foreach_add", [_M, _V], [2, None]),
    ("torch._foreach_add_", [_M, _V], [1j, 1]),
    ("torch._foreach_norm", [_M, _V], 1, {"dtype": torch.float64}),
]
_STRINGS: list[_Call] = [
    *(("torch.div", _M, 0.3, {"rounding_mode": mode}) for mode in ("floor", "trunc", None, "up", b"floor", 1)),
    *(("fft.fft_fft", _V, {"norm": norm}) for norm in ("ortho", "forward", None, "none", 2)),
    *(("linalg.linalg_norm", _M, order) for order in ("fro", "nuc", 2, -1, math.inf, None, "other")),
    *(("Tensor.scatter_reduce", _V, 0, _I, _V, how) for how in ("sum", "mean", "none", 3)),
    *(("torch.searchsorted", _V, _W, {"side": side}) for side in ("left", "right", "up", None)),
    ("nn.gelu", _M, {"approximate": "tanh"}),
    ("nn.gelu", _M, {"approximate": "no"}),
    ("Tensor.type", _M),
    ("Tensor.type", _M, "torch.DoubleTensor"),
    ("Tensor.type", _M, torch.int64),
    ("Tensor.type", _M, {"dtype": torch.float32}),
    ("Tensor.type", _M, None),
]
_CONVERSIONS: list[_Call] = [
    *(
        ("Tensor.to", _M, *how)
        for how in ((torch.float64,), ("cpu",), (_D,), ("cpu", torch.int32), ("nowhere",), (), (3,))
    ),
    *(
        ("Tensor.to", _M, {key: how})
        for key, how in (("dtype", torch.int8), ("other", _D), ("copy", True), ("device", None))
    ),
    ("Tensor.to", _PERMUTED, {"memory_format": torch.contiguous_format}),
    ("Tensor.to", _M, torch.float32, True, True),
    ("Tensor.to", _M, torch.device("meta"), {"non_blocking": True}),
    *(
        (f"Tensor.{name}", _M)
        for name in "float double half bfloat16 int long short byte char bool cfloat cdouble".split()
    ),
    *((f"Tensor.{name}", _M, {"memory_format": torch.preserve_format}) for name in ("float", "double", "cpu")),
    *(
        (f"Tensor.{name}", _PERMUTED, {"memory_format": torch.channels_last})
        for name in ("is_contiguous", "contiguous")
    ),
    *((f"Tensor.{name}", _M, {"memory_format": 3}) for name in ("is_contiguous", "contiguous", "float")),
    *(
        (f"Tensor.{name}", value)
        for name in "item tolist numpy __bool__ __int__ __float__ __complex__ __index__ __invert__ __long__".split()
        for value in (
            make(torch.tensor, 2),
            make(torch.tensor, 2.5),
            make(torch.tensor, True),
            _M,
            _LEAF,
            _META,
            _SPARSE,
        )
    ),
    ("Tensor.item", make(torch.tensor, 2**62)),
    ("Tensor.item", make(torch.tensor, 1.5 + 2j)),
    ("Tensor.numpy", _LEAF, {"force": True}),
    ("Tensor.numpy", make(torch.tensor, [1j, 2], requires_grad=False)),
    ("Tensor.copy_", _M, _D),
    ("Tensor.copy_", _M, _D, True),
    ("Tensor.copy_", _M, {"other": 3}),
    *((f"Tensor.{name}", value) for name in ("size", "stride", "dim", "numel") for value in (_B, _SPARSE, _META)),
    *((f"Tensor.{name}", _B, dim) for name in ("size", "stride") for dim in (0, -1, 5, None, "a", 1.0, True)),
    *((f"Tensor.{name}", _B, {"dim": 1}) for name in ("size", "stride")),
    *((f"Tensor.{name}", _B) for name in ("storage_offset", "element_size", "get_device", "is_contiguous", "_is_view")),
    *(
        (f"Tensor.{name}", _M)
        for name in ("nelement", "ndimension", "untyped_storage", "requires_grad_", "cuda", "xpu")
    ),
    *(("Tensor.requires_grad_", value, how) for value in (_M, _LEAF, integers(2)) for how in (True, False, 1, None)),
    ("Tensor.qscheme", _QUANTIZED),
    ("Tensor.q_scale", _QUANTIZED),
    ("Tensor.dequantize", _QUANTIZED),
    ("Tensor.int_repr", _QUANTIZED),
    ("Tensor.index_select", _SPARSE, 0, _I),
    ("Tensor.coalesce", _SPARSE),
    ("Tensor.to_sparse", _M, {"layout": torch.sparse_csr}),
    ("Tensor.to_sparse", _M, 1),
    ("Tensor.to_dense", _SPARSE, torch.float64),
    ("Tensor.data_ptr", _META),
]
_OTHER_TENSORS: list[_Call] = [
    *(
        (name, *values)
        for name in ("torch.add", "torch.mul", "torch.matmul", "Tensor.add", "Tensor.__mul__", "Tensor.add_")
        for values in (
            (_LEAF, _M),
            (_M, _LEAF),
            (_META, _META),
            (_META, _M),
            (_SPARSE, _SPARSE),
            (_M, _META),
            (_SUBCLASS, _M),
            (_M, _SUBCLASS),
            (_M, _OBJECT),
            (_M, _DECLINES),
            (_SUBCLASS, _DECLINES),
            (_M, _EMPTY),
            (_M, integers(3, 3)),
            (integers(3, 3), _M),
            (_D, _M),
        )
    ),
    ("torch.add", _OBJECT, 1),
    ("torch.add", _DECLINES, 1),
    ("torch.add", {"input": _OBJECT, "other": _M, "out": _M}),
    ("torch.add", _M, _N, {"out": _OBJECT}),
    ("torch.cat", [_M, _OBJECT], {"dim": 1}),
    ("torch.zeros_like", _OBJECT, {"dtype": torch.int32}),
    ("torch.max", _SUBCLASS, 0),
    ("linalg.linalg_det", _OBJECT),
    ("linalg.linalg_qr", _SUBCLASS),
    ("fft.fft_fft", _OBJECT, {"n": 3}),
    ("special.special_zeta", _OBJECT, 2.0),
    ("special.special_zeta", 2.0, _OBJECT),
    ("special.special_zeta", 2.0, _DECLINES),
    ("nn.gelu", _OBJECT),
    ("nn._parse_to", "cpu", torch.float64, {"non_blocking": True}),
    ("nn._parse_to", torch.int32),
    ("nn._parse_to", "nowhere"),
    ("nn._parse_to", _M),
    ("sparse.sparse_sampled_addmm", _OBJECT, _M, _N),
    *(
        (f"Tensor.{name}", _SUBCLASS)
        for name in "size dim numel item tolist numpy contiguous sum t zero_ float".split()
    ),
    *(
        (f"Tensor.{name}", _SUBCLASS)
        for name in "__bool__ __invert__ is_contiguous data_ptr storage_offset exp".split()
    ),
    ("Tensor.size", _SUBCLASS, 0),
    ("Tensor.new_zeros", _SUBCLASS, 2),
    ("Tensor.copy_", _M, _SUBCLASS),
    ("Tensor.requires_grad_", _SUBCLASS),
]
_OUT: list[_Call] = [
    *(
        ("torch.add", _M, _N, {"out": out})
        for out in (_M, _D, integers(3, 3), _EMPTY, tensor(2), _META, _LEAF, None, 3, (_M,))
    ),
    *(("torch.exp", _M, {"out": out}) for out in (_M, _EMPTY, tensor(3, 3, dtype=torch.complex64), [_M], "a")),
    ("torch.add", _LEAF, _M, {"out": _M}),
    ("torch.matmul", _M, _V, {"out": tensor(3)}),
    ("special.special_zeta", _M, 2.0, {"out": tensor(3, 3)}),
    ("special.special_zeta", 2.0, _M, {"out": tensor(3, 3)}),
    ("special.special_logit", _M, 0.1, {"out": tensor(3, 3)}),
    ("special.special_logit", _M, {"eps": None}),
    ("fft.fft_rfft", _V, {"n": 4, "dim": 0, "out": make(torch.zeros, 3, dtype=torch.complex64)}),
    ("linalg.linalg_norm", _M, {"dim": (0, 1), "keepdim": True, "dtype": torch.float64, "out": _D}),
]
_SYMBOLS: list[_Call] = [
    ("torch.zeros", _SYMBOL),
    ("torch.zeros", (_SYMBOL, 2)),
    ("torch.full", (2, _SYMBOL), 1),
    ("Tensor.view", _M, _SYMBOL, _SYMBOL),
    ("Tensor.expand", _V, (_SYMBOL, -1)),
    ("Tensor.reshape", _M, (_SYMBOL, 3)),
    ("torch.narrow", tensor(5), 0, 1, _SYMBOL),
    ("torch.select", tensor(5), 0, _SYMBOL),
    ("torch.add", _M, _SYMBOL),
    ("torch.arange", _SYMBOL),
    ("torch.split_with_sizes", tensor(6), [_SYMBOL, 3]),
    ("torch.sum", tensor(2, 2, 2, 2), _SYMBOL),
    ("Tensor.new_zeros", _M, (_SYMBOL,)),
    ("fft.fft_fft", _V, _SYMBOL),
    ("torch.zeros", _SYMBOL, 2, {"device": "meta"}),
    ("torch.full", (2, _SYMBOL), 1, {"device": "meta"}),
    ("torch.randint", 5, (_SYMBOL,), {"device": "meta"}),
    ("torch.empty_strided", (_SYMBOL, 2), (2, 1), {"device": "meta"}),
    ("Tensor.new_zeros", _META, (_SYMBOL,)),
    *(
        (f"Tensor.{name}", _SYMBOLIC, *args)
        for name, args in (
            ("size", ()),
            ("size", (0,)),
            ("stride", ()),
            ("stride", (1,)),
            ("numel", ()),
            ("storage_offset", ()),
            ("dim", ()),
            ("t", ()),
            ("view", (4, -1)),
            ("expand", (2, -1, -1)),
            ("sum", (0,)),
            ("chunk", (2,)),
            ("narrow", (0, 1, 2)),
            ("item", ()),
            ("tolist", ()),
            ("matmul", (_SYMBOLIC,)),
        )
    ),
    ("torch.cat", [_SYMBOLIC, _SYMBOLIC]),
    ("nn.pad", _SYMBOLIC, (1, _SYMBOL)),
]
_POSITIONS: list[_Call] = [
    ("torch.addcmul", _M, _N, _P, {"value": 2}),
    ("torch.addcmul", {"tensor1": _N, "tensor2": _P, "input": _M}),
    ("torch.addmm", _M, _N, _P, {"alpha": 0.5, "beta": 2}),
    ("torch.addmm", _M, _N, _P, 2),
    ("torch.where", make(torch.eye, 3, dtype=torch.bool), _M, 2),
    ("torch.where", make(torch.eye, 3, dtype=torch.bool), 1, 2),
    ("torch.where", make(torch.eye, 3, dtype=torch.bool)),
    ("torch.where", make(torch.eye, 3, dtype=torch.bool), _M),
    ("torch.var", _M),
    ("torch.var", _M, True),
    ("torch.var", _M, 0, False),
    ("torch.var", _M, {"dim": 0, "unbiased": False, "keepdim": True}),
    ("torch.var", _M, {"dim": 0, "correction": 0}),
    ("torch.var", _M, {"correction": 2.5}),
    ("torch.std_mean", _M, {"dim": [0, 1], "correction": 0}),
    ("torch.all", _I, {"dim": 0, "keepdim": True}),
    ("torch.argmax", _M, None, False),
    ("torch.argmax", _M, {"dim": None, "keepdim": True}),
    ("torch.allclose", _M, _N, {"rtol": 0, "atol": 1, "equal_nan": True}),
    ("torch.norm", _M),
    ("torch.norm", _M, 2, 0),
    ("torch.norm", _M, {"p": 2, "dim": 0, "dtype": torch.float64}),
    ("torch.dot", _V, _W),
    ("torch.dot", {"input": _V, "tensor": _W}),
    ("torch.dot", {"self": _V, "other": _V}),
    ("torch.sub", _M, _N, {"alpha": 2}),
    ("torch.rsub", _M, 2, 3),
    ("torch.transpose", _M, 0, 1),
    ("torch.transpose", {"input": _M, "dim0": 0, "dim1": 1}),
    ("torch.squeeze", tensor(1, 3, 1), (0, 2)),
    ("torch.diag_embed", _V, 1, {"dim1": 0}),
    ("torch.multinomial", _V, 5, True, {"generator": generator()}),
    ("torch.bernoulli", _V, {"generator": generator()}),
    ("torch.bernoulli", _V, 0.5),
    ("Tensor.bernoulli_", _M, 0.5, {"generator": generator()}),
    ("Tensor.uniform_", _M, 1, 2),
    ("Tensor.uniform_", _M, {"from": 1, "to": 2, "generator": generator()}),
    ("Tensor.random_", integers(3), 2, 9),
    ("Tensor.random_", integers(3), 9),
    ("Tensor.random_", integers(3), {"to": 9}),
    ("Tensor.normal_", _M, {"std": 2, "mean": 1}),
    ("Tensor.clamp", _M, {"min": 0.2}),
    ("Tensor.clamp", _M, {"max": _M}),
    ("Tensor.clamp", _M),
    ("Tensor.masked_fill", _M, make(torch.eye, 3, dtype=torch.bool), make(torch.tensor, 2.0)),
    ("Tensor.index_fill_", _M, 0, _I, 2.5),
    ("Tensor.scatter_", _M, 0, integers(1, 3), 2.5),
    ("Tensor.scatter_", _M, 0, integers(1, 3), 2.5, {"reduce": "multiply"}),
    ("Tensor.unflatten", tensor(6), 0, (2, -1)),
    ("Tensor.__and__", _I, 1),
    ("Tensor.__rand__", _I, 1),
    ("Tensor.__radd__", _M, 1),
    ("Tensor.__eq__", _M, "a"),
    ("Tensor.__eq__", _M, None),
    ("Tensor.__lt__", _M, _N),
    ("Tensor.__iadd__", _M, _D),
    ("Tensor.__truediv__", _M, 0),
    ("Tensor.__floordiv__", _I, 0),
    ("torch.result_type", _M, 1j),
    ("torch.result_type", 1, 2.0),
    ("torch.can_cast", torch.float32, torch.int32),
    ("torch.can_cast", {"from_": torch.float32, "to": torch.float64}),
    ("torch.promote_types", torch.float32, torch.int32),
    ("torch.promote_types", torch.float32, "int"),
    ("torch.is_floating_point", _M),
    ("torch.is_same_size", _M, _V),
    ("torch.equal", _M, _N),
    ("torch.lstm_cell", _V, [_V], _V, _W),
    ("torch.is_nonzero", make(torch.tensor, 0)),
    ("torch.repeat_interleave", _V, 2),
    ("torch.repeat_interleave", _V, integers(3), {"output_size": 3}),
    ("torch.tensordot", _M, _N, [0], [1]),
    ("torch.gradient", tensor(4), {"spacing": 2.0}),
    ("torch.gradient", tensor(4), {"dim": 0, "edge_order": 2}),
]
KINDS: dict[str, list[_Call]] = {
    "deprecated form": _DEPRECATED,
    "named results": _NAMED_RESULTS,
    "factory": _FACTORIES,
    "scalars": _SCALARS,
    "lists": _LISTS,
    "strings": _STRINGS,
    "conversion": _CONVERSIONS,
    "other tensors": _OTHER_TENSORS,
    "out": _OUT,
    "symbolic sizes": _SYMBOLS,
    "positions and names": _POSITIONS,
}


def rows() -> Iterator[Row]:
    """All of them, by kind."""
    for kind, calls in KINDS.items():
        for number, (binding, *args) in enumerate(calls):
            kwargs = args.pop() if args and type(args[-1]) is dict else {}
            assert not isinstance(kwargs, Made)
            yield Row(binding, f"{kind} {number}", tuple(args), kwargs)
