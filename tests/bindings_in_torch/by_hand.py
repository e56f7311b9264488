"""Calls written down: what no schema and no sample of torch's shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from bindings_in_torch.arguments import integers, make, tensor
from bindings_in_torch.rows import Row

_M, _N, _V = tensor(3, 3), tensor(3, 3, start=0.9, step=-0.11), tensor(3)
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


_OBJECT, _DECLINES, _SUBCLASS, _SYMBOL = make(Overriding), make(Declining), make(_counted), make(symbol, 3)

_Call = tuple[Any, ...]  # a binding, its arguments; last a dictionary, where there are keywords

_NAMED_RESULTS: list[_Call] = [
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
_STRINGS: list[_Call] = [
    *(("fft.fft_fft", _V, {"norm": norm}) for norm in ("ortho", "forward", None, "none", 2)),
    *(("linalg.linalg_norm", _M, order) for order in ("fro", "nuc", 2, -1, math.inf, None, "other")),
]
_OTHER_TENSORS: list[_Call] = [
    ("linalg.linalg_det", _OBJECT),
    ("linalg.linalg_qr", _SUBCLASS),
    ("fft.fft_fft", _OBJECT, {"n": 3}),
    ("special.special_zeta", _OBJECT, 2.0),
    ("special.special_zeta", 2.0, _OBJECT),
    ("special.special_zeta", 2.0, _DECLINES),
]
_OUT: list[_Call] = [
    ("special.special_zeta", _M, 2.0, {"out": tensor(3, 3)}),
    ("special.special_zeta", 2.0, _M, {"out": tensor(3, 3)}),
    ("special.special_logit", _M, 0.1, {"out": tensor(3, 3)}),
    ("special.special_logit", _M, {"eps": None}),
    ("fft.fft_rfft", _V, {"n": 4, "dim": 0, "out": make(torch.zeros, 3, dtype=torch.complex64)}),
    ("linalg.linalg_norm", _M, {"dim": (0, 1), "keepdim": True, "dtype": torch.float64, "out": _D}),
]
KINDS: dict[str, list[_Call]] = {
    "named results": _NAMED_RESULTS,
    "strings": _STRINGS,
    "other tensors": _OTHER_TENSORS,
    "out": _OUT,
    "symbolic sizes": [("fft.fft_fft", _V, _SYMBOL)],
}


def rows() -> Iterator[Row]:
    """All of them, by kind."""
    for kind, calls in KINDS.items():
        for number, (binding, *args) in enumerate(calls):
            kwargs = args.pop() if args and type(args[-1]) is dict else {}
            yield Row(binding, f"{kind} {number}", tuple(args), kwargs)
