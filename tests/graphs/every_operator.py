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
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

SHAPES = [(2, 3), (3, 3), (3,), (), (1, 3), (2, 3, 4), (1, 2, 4, 4), (1, 1, 3, 3, 3), (3, 3, 3)]
_OFTEN = [8, 5, 3, 1, 2, 2, 3, 1, 1]
DTYPES = [torch.float64, torch.float32, torch.complex64, torch.int64, torch.bool]
_LARGE = 1e5  # float16 has no such number
_WORDS = {"indexing": ["ij", "xy"], "equation": ["i->i", "ij->ji", "ij->", "ij,jk", "i,i->i"]}  # by the argument
_OTHER_WORDS = "sum mean none floor fro nuc linear reflect prod amax L reduced constant".split()
_MARKED = {torch.complex64: torch.conj, torch.float64: torch._neg_view}  # views that resolve_conj, resolve_neg copy
_LISTS = [[], [0], [1], [0, 1], [1, 0], [-1], [2], [2, 2], [1, 1], [1, 2], [3]]
_SECONDS = 20  # for all calls of an operator


class Facts(msgspec.Struct):
    """What the calls of an operator did; arguments by name."""

    calls: int = 0
    apart: set[str] = msgspec.field(default_factory=set)  # no result was in its memory
    itself: set[str] = msgspec.field(default_factory=set)  # a result was the argument itself
    viewed: set[str] = msgspec.field(default_factory=set)  # a result was another tensor in its memory
    untracked: set[str] = msgspec.field(default_factory=set)  # one that autograd does not know as a view of it
    written: set[str] = msgspec.field(default_factory=set)
    bumped: set[str] = msgspec.field(default_factory=set)  # its version was another one afterwards
    switches: set[str] = msgspec.field(default_factory=set)  # arguments that were False in a call that wrote
    differentiable: set[str] = msgspec.field(default_factory=set)  # it had a gradient


class Arguments:
    """Random arguments of one call; most of its tensors have the same shape and dtype."""

    def __init__(self, seed: str, *, statistics: bool) -> None:
        self.random = random.Random(zlib.crc32(seed.encode()))
        self.shape = self.random.choices(SHAPES, _OFTEN)[0]
        self.dtype = self.random.choices(DTYPES, [8, 1, 1, 1.5, 1])[0]
        self.scale = _LARGE if self.random.random() < 0.1 else 1
        self.statistics = statistics  # whether the operator takes those of batches

    def of(self, type_: Any, name: str) -> Any:
        """A value of a schema's type. Raises a KeyError for a type that has none."""
        kind, choose = str(type_), self.random.choice
        if kind.startswith("Optional["):
            return None if not self.statistics and self.random.random() < 0.6 else self.of(type_.getElementType(), name)
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
            "str": lambda: choose(_WORDS.get(name, _OTHER_WORDS)),
            "Device": lambda: "cpu",
            "Generator": lambda: None,
        }[kind]()

    def _tensor(self, name: str) -> Tensor:
        of = self.random
        if self.statistics:
            return torch.rand((4, 3, 2) if name in ("input", "self") else (3,))
        shape = of.choice([*SHAPES, *[self.shape[::-1]] * 3]) if of.random() < 0.25 else self.shape
        dtype = of.choice(DTYPES) if of.random() < 0.1 else self.dtype
        if any(word in name for word in ("ind", "target", "offsets", "lengths")):
            dtype = torch.int64
        elif "mask" in name or "condition" in name:
            dtype = torch.bool
        numbers = torch.rand(shape, generator=torch.Generator().manual_seed(of.randrange(2**30)))
        tensor = numbers * self.scale if dtype.is_floating_point or dtype.is_complex else numbers > 0.5
        tensor = tensor.to(dtype)
        if tensor.dim() > 1 and of.random() < 0.25:
            tensor = tensor.mT.contiguous().mT
        if of.random() < 0.3 and tensor.dtype in _MARKED:
            tensor = _MARKED[tensor.dtype](tensor)
        return tensor


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
    """What `of` finds of operators, of the type `kind`, by `aten::add_.Tensor`; `kind()` of one that crashes. An
    error of `of` is raised here: else the child would go on as the process that it was forked from."""
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
                name, one, error = json.loads(line)
                assert not error, f"{name}: {error}"
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
            try:
                found = [msgspec.to_builtins(of(operator)), ""]
            except Exception:
                found = [None, traceback.format_exc()]
            lines.write(json.dumps([operator.name(), *found]) + "\n")
            lines.flush()
    os._exit(0)


def _of(operator: Any, tries: int, calls: int) -> Facts:
    one = Facts()
    for number in range(tries):
        given = arguments_of(operator, number)
        if given is None:
            break
        before = copied(given, leaves=None)
        if add(operator, given, one):
            one.differentiable |= differentiable(operator, before)
        if one.calls == calls:
            break
    return one


def arguments_of(operator: Any, number: int, dtype: torch.dtype | None = None) -> dict[str, Any] | None:
    """The arguments of a call by name, the same for the same `number`; None if one has a type without values."""
    schema = operator._schema.arguments
    arguments = Arguments(f"{operator.name()} {number}", statistics=any(a.name == "running_mean" for a in schema))
    arguments.dtype = dtype or arguments.dtype
    try:
        return {a.name: arguments.of(a.type, a.name) for a in schema}
    except KeyError:
        return None


def add(operator: Any, given: dict[str, Any], one: Facts) -> bool:
    """Calls an operator and adds what it did; False if the call fails."""
    inputs = [(name, tensor) for name, value in given.items() for tensor in tensors(value)]
    versions, before = [t._version for _, t in inputs], [t.detach().clone() for _, t in inputs]
    try:
        with torch.no_grad():
            results = tensors(called(operator, given))
        shared = [(n, t, [r for r in results if t.numel() and _shares(t, r)]) for n, t in inputs]
    except Exception:
        return False
    one.calls += 1
    one.apart |= {n for n, t, found in shared if t.numel() and not found and all(r.numel() for r in results)}
    one.itself |= {n for n, t in inputs if any(t is r for r in results)}
    one.viewed |= {n for n, t, found in shared if any(r is not t for r in found)}
    one.untracked |= {n for n, t, found in shared if any(not _tracked(t, r) for r in found)}
    bumped = {n for (n, t), version in zip(inputs, versions) if t._version != version}
    written = bumped | {n for (n, t), was in zip(inputs, before) if not _equal(t, was)}
    one.bumped |= bumped
    one.written |= written
    one.switches |= {n for n, value in given.items() if value is False} if written else set()
    return True


def differentiable(operator: Any, given: dict[str, Any]) -> set[str]:
    """The arguments of a call that have a gradient."""
    leaves: list[tuple[str, Tensor]] = []
    given = copied(given, leaves)
    try:
        results = tensors(called(operator, given))
        results += [t for a in operator._schema.arguments if writes(a) for t in tensors(given[a.name])]
        total = [r.abs().sum() for r in results if r.requires_grad]
        if not total or not leaves:
            return set()
        found = torch.autograd.grad(total, [leaf for _, leaf in leaves], allow_unused=True)
    except Exception:
        return set()
    return {name for (name, _), gradient in zip(leaves, found) if gradient is not None}


def copied(given: dict[str, Any], leaves: list[tuple[str, Tensor]] | None) -> dict[str, Any]:
    """Copies of arguments; of `leaves`, which it adds, those that can have a gradient."""

    def of(name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [of(name, each) for each in value]
        if not isinstance(value, Tensor):
            return value
        value = value.detach().clone()
        if leaves is None or not (value.is_floating_point() or value.is_complex()):
            return value
        leaves.append((name, value.requires_grad_()))
        return value.clone()

    return {name: of(name, value) for name, value in given.items()}


def called(operator: Any, given: dict[str, Any]) -> Any:
    """The result of a call with arguments by name."""
    schema = operator._schema.arguments
    return operator(
        *(given[a.name] for a in schema if not a.kwarg_only), **{a.name: given[a.name] for a in schema if a.kwarg_only}
    )


def writes(argument: Any) -> bool:
    """Whether an operator writes to an argument, by its schema."""
    return argument.alias_info is not None and argument.alias_info.is_write


def tensors(value: Any) -> list[Tensor]:
    """The tensors of a value, and of the lists in it."""
    if isinstance(value, Tensor):
        return [value]
    return [tensor for each in value for tensor in tensors(each)] if isinstance(value, (list, tuple)) else []


def _shares(one: Tensor, other: Tensor) -> bool:
    try:
        return one is other or one.untyped_storage()._cdata == other.untyped_storage()._cdata
    except NotImplementedError:  # sparse
        return False


def _tracked(one: Tensor, other: Tensor) -> bool:
    """Whether a result in the memory of a tensor is the tensor, or a view of it for autograd."""
    base = one._base if one._is_view() else one
    return other is one or (other._is_view() and other._base is base)


def _equal(one: Tensor, other: Tensor) -> bool:
    same = one.shape == other.shape and one.dtype == other.dtype  # set_data() changes both
    return same and torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)
