"""The bindings in pairs, ours and torch's, by names such as `torch.add`, `Tensor.add` and `linalg.linalg_qr`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

# What functions are attributes of, in torch._C and in our module.
OWNERS = {
    "torch": "_VariableFunctions",
    "nn": "_nn",
    "fft": "_fft",
    "linalg": "_linalg",
    "nested": "_nested",
    "sparse": "_sparse",
    "special": "_special",
}
METHODS = "Tensor"


class Pair(NamedTuple):
    """Two bindings of one name."""

    name: str
    ours: Callable[..., Any]
    torchs: Callable[..., Any]

    @property
    def method(self) -> bool:
        return self.name.startswith(f"{METHODS}.")


class Tables(NamedTuple):
    """All pairs, and our module."""

    module: Any
    pairs: dict[str, Pair]

    def ours_of(self) -> Mapping[int, Pair]:
        """Pairs by the identity of torch's binding. Those of `_VariableFunctions` are copied into `torch`."""
        return {id(pair.torchs): pair for pair in self.pairs.values()}


def load(path: Path, name: str) -> Any:
    """An extension module of a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables(path: Path, only: str = "") -> Tables:
    """The pairs of a module's file whose names begin with `only`.

    Our bindings have their code in that file, torch's have it in libtorch_python.
    """
    module = load(path, "gradmill_bindings")
    pairs = {pair.name: pair for pair in _pairs(module) if pair.name.startswith(only)}
    for pair in pairs.values():
        assert Path(module.library_of(pair.ours)).samefile(path), pair
        assert Path(module.library_of(pair.torchs)).name == "libtorch_python.so", pair
    return Tables(module, pairs)


def _pairs(module: Any) -> Iterator[Pair]:
    for table, owner in OWNERS.items():
        own = _functions(getattr(module, owner, None))
        torchs = _functions(getattr(torch._C, owner))
        yield from (Pair(f"{table}.{name}", function, torchs[name]) for name, function in own.items())
    theirs = torch._C.TensorBase.__dict__  # type: ignore[attr-defined]
    for name, method in module.methods(torch._C.TensorBase).items():
        yield Pair(f"{METHODS}.{name}", method, theirs[name])


def _functions(owner: Any) -> dict[str, Callable[..., Any]]:
    names = [name for name in dir(owner) if not name.startswith("__") or name.rstrip("_") in _DOUBLE]
    return {name: function for name in names if callable(function := getattr(owner, name))}


_DOUBLE = {"__and", "__or", "__xor", "__lshift", "__rshift"}  # operators among the functions of torch
