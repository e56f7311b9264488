"""Calls each operator of the installed torch on small tensors, and reports what it does with its arguments.

Arguments are random, by their types and names; torch's own samples of its operators add calls that need more care. A
call may crash the process, so they run in child processes: an operator that crashes one has the calls before.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import signal
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

SHAPES = [(2, 3), (3, 3), (3,), (), (1, 3), (2, 3, 4), (1, 2, 4, 4), (1, 1, 3, 3, 3)]
_OFTEN = [8, 5, 3, 1, 2, 2, 3, 1]
DTYPES = [torch.float64, torch.float32, torch.complex64, torch.int64, torch.bool]
_WORDS = "sum mean none ij xy floor i->i ij->ji ij-> fro nuc linear reflect prod amax L reduced constant".split()
_LISTS = [[], [0], [1], [0, 1], [1, 0], [-1], [2], [2, 2], [1, 1], [1, 2], [3]]
_SECONDS = 20  # for all calls of an operator


class Facts(msgspec.Struct):
    """What the calls of an operator did; arguments by name."""

    calls: int = 0
    aliased: set[str] = msgspec.field(default_factory=set)  # a result was in its memory
    apart: set[str] = msgspec.field(default_factory=set)  # no result was in its memory
    itself: set[str] = msgspec.field(default_factory=set)  # a result was the argument itself
    written: set[str] = msgspec.field(default_factory=set)
    differentiable: set[str] = msgspec.field(default_factory=set)  # it had a gradient


class Arguments:
    """Random arguments of one call; most of its tensors have the same shape and dtype."""

    def __init__(self, seed: str, *, statistics: bool) -> None:
        self.random = random.Random(zlib.crc32(seed.encode()))
        self.shape = self.random.choices(SHAPES, _OFTEN)[0]
        self.dtype = self.random.choices(DTYPES, [8, 1, 1, 1.5, 1])[0]
        self.statistics = statistics  # whether the operator takes those of batches

    def of(self, type_: Any, name: str) -> Any:
        """A value of a schema's type. Raises a KeyError for a type that has none."""
        kind, choose = str(type_), self.random.choice
        if kind.startswith("Optional["):
            return None if self.random.random() < 0.6 else self.of(type_.getElementType(), name)
        if kind.startswith("List[") and kind[5:-1] in ("Tensor", "Optional[Tensor]", "bool", "float", "number"):
            return [self.of(type_.getElementType(), name) for _ in range(choose([1, 1, 2, 3]))]
        if kind == "int" and "dtype" in name:
            return choose([6, 7, 4])
        return {
            "Tensor": lambda: self._tensor(name),
            "int": lambda: choose([0, 1, 1, -1, 2, 3]),
            "bool": lambda: choose([True, False]),
            "float": lambda: choose([0.0, 0.5, 1.0]),
            "number": lambda: choose([0, 1, 2, 0.5]),
            "List[int]": lambda: choose([*_LISTS, list(self.shape), list(self.shape), [1] * len(self.shape)]),
            "str": lambda: choose(_WORDS),
            "Device": lambda: "cpu",
            "Generator": lambda: None,
        }[kind]()

    def _tensor(self, name: str) -> Tensor:
        of = self.random
        if self.statistics:
            return torch.rand((4, 3, 2) if name in ("input", "self") else (3,))
        shape = of.choice(SHAPES) if of.random() < 0.25 else self.shape
        dtype = of.choice(DTYPES) if of.random() < 0.1 else self.dtype
        if any(word in name for word in ("ind", "target", "offsets", "lengths")):
            dtype = torch.int64
        elif "mask" in name or "condition" in name:
            dtype = torch.bool
        numbers = torch.rand(shape, generator=torch.Generator().manual_seed(of.randrange(2**30)))
        tensor = numbers > 0.5 if dtype in (torch.int64, torch.bool) else numbers
        tensor = tensor.to(dtype)
        return tensor.mT.contiguous().mT if tensor.dim() > 1 and of.random() < 0.2 else tensor


def operators() -> list[Any]:
    """The overloads of torch's operators that have a tensor among their arguments."""
    names = sorted({s.name for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")})
    packets = [getattr(torch.ops.aten, name.removeprefix("aten::"), None) for name in names]
    every = [getattr(packet, overload) for packet in packets if packet is not None for overload in packet.overloads()]
    return [
        each
        for each in every
        if torch._C._dispatch_has_kernel(each.name()) and any("Tensor" in str(a.type) for a in each._schema.arguments)
    ]


def facts(every: list[Any], folder: Path, tries: int, calls: int) -> dict[str, Facts]:
    """The facts of operators, by `aten::add_.Tensor`; of at most `calls` successful calls in `tries`.

    Operators that write files do so in `folder`.
    """
    return in_children(every, folder, lambda operator: _of(operator, tries, calls), Facts)


def in_children(every: list[Any], folder: Path, of: Callable[[Any], Any], kind: Any) -> dict[str, Any]:
    """What `of` finds of operators, of the type `kind`, by `aten::add_.Tensor`; `kind()` of one that crashes."""
    found: dict[str, Any] = {}
    while len(found) < len(every):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            _report(every[len(found) :], of, writing, folder)
        os.close(writing)
        with os.fdopen(reading) as lines:
            for line in lines:
                name, one = json.loads(line)
                found[name] = msgspec.convert(one, kind)
        if os.waitpid(child, 0)[1]:
            found.setdefault(every[len(found)].name(), kind())
    return found


def _report(every: list[Any], of: Callable[[Any], Any], writing: int, folder: Path) -> None:
    faulthandler.disable()  # crashes are expected
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    torch.set_num_threads(1)
    os.chdir(folder)  # some operators write files
    with os.fdopen(writing, "w") as lines:
        for operator in every:
            signal.alarm(_SECONDS)
            lines.write(json.dumps([operator.name(), msgspec.to_builtins(of(operator))]) + "\n")
            lines.flush()
    os._exit(0)


def _of(operator: Any, tries: int, calls: int) -> Facts:
    one = Facts()
    for number in range(tries):
        schema = operator._schema.arguments
        arguments = Arguments(f"{operator.name()} {number}", statistics=any(a.name == "running_mean" for a in schema))
        try:
            given = {a.name: arguments.of(a.type, a.name) for a in schema}
        except KeyError:
            break
        _add(operator, given, one)
        if one.calls == calls:
            break
    return one


def _add(operator: Any, given: dict[str, Any], one: Facts) -> None:
    """Calls an operator twice, without and with gradients, and adds what it did."""
    before = _copied(given, leaves=None)
    inputs = [(name, tensor) for name, value in given.items() for tensor in _tensors(value)]
    versions = [tensor._version for _, tensor in inputs]
    try:
        with torch.no_grad():
            results = _tensors(called(operator, given))
        one.aliased |= {n for n, t in inputs if t.numel() and any(_shares(t, r) for r in results)}
    except Exception:
        return
    one.calls += 1
    one.apart |= {n for n, t in inputs if t.numel() and not any(_shares(t, r) or not r.numel() for r in results)}
    one.itself |= {n for n, t in inputs if any(t is r for r in results)}
    old = [tensor for value in before.values() for tensor in _tensors(value)]
    for (name, tensor), version, was in zip(inputs, versions, old):
        if tensor._version != version or not _equal(tensor, was):
            one.written.add(name)
    one.differentiable |= _differentiable(operator, before)


def _differentiable(operator: Any, given: dict[str, Any]) -> set[str]:
    leaves: list[tuple[str, Tensor]] = []
    given = _copied(given, leaves)
    try:
        results = _tensors(called(operator, given))
        results += [t for a in operator._schema.arguments if writes(a) for t in _tensors(given[a.name])]
        total = [r.abs().sum() for r in results if r.requires_grad]
        if not total or not leaves:
            return set()
        found = torch.autograd.grad(total, [leaf for _, leaf in leaves], allow_unused=True)
    except Exception:
        return set()
    return {name for (name, _), gradient in zip(leaves, found) if gradient is not None}


def _copied(given: dict[str, Any], leaves: list[tuple[str, Tensor]] | None) -> dict[str, Any]:
    """Copies of arguments; of `leaves`, which it adds, those that can have a gradient."""

    def copied(name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [copied(name, each) for each in value]
        if not isinstance(value, Tensor):
            return value
        value = value.detach().clone()
        if leaves is None or not (value.is_floating_point() or value.is_complex()):
            return value
        leaves.append((name, value.requires_grad_()))
        return value.clone()

    return {name: copied(name, value) for name, value in given.items()}


def called(operator: Any, given: dict[str, Any]) -> Any:
    """The result of a call with arguments by name."""
    schema = operator._schema.arguments
    return operator(
        *(given[a.name] for a in schema if not a.kwarg_only), **{a.name: given[a.name] for a in schema if a.kwarg_only}
    )


def writes(argument: Any) -> bool:
    """Whether an operator writes to an argument, by its schema."""
    return argument.alias_info is not None and argument.alias_info.is_write


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [tensor for each in value for tensor in _tensors(each)] if isinstance(value, (list, tuple)) else []


def _shares(one: Tensor, other: Tensor) -> bool:
    try:
        return one is other or one.untyped_storage()._cdata == other.untyped_storage()._cdata
    except NotImplementedError:  # sparse
        return False


def _equal(one: Tensor, other: Tensor) -> bool:
    same = one.shape == other.shape and one.dtype == other.dtype  # set_data() changes both
    return same and torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)
