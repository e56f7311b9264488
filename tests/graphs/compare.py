"""Runs a graph and its eager function on equal inputs, and compares all effects that a caller can observe."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_seed import seed_torch

from graphs.samples import samples

Make = Callable[[], list[Any]]
TOLERANCE = 1e-10
# Errors of eager in the backward for which a functional graph computes a gradient: a saved value was overwritten, or
# filled through an expanded view.
OVERWRITTEN = ("modified by an inplace operation", "more than one element of the written-to tensor refers to a single")


class Seen:
    """The effects of one run that a caller can observe."""

    def __init__(self, function: Callable[..., Any], arguments: list[Any], leaves: list[Tensor]) -> None:
        self.error = ""
        self.outputs: list[Any] = []
        self.backward_error = ""
        self.gradients: list[Tensor | None] = []
        inputs = tensors(arguments)
        before = [tensor._version for tensor in inputs]
        try:
            self.outputs = _listed(function(*arguments))
            self.facts = [_facts(tensor) for tensor in [*inputs, *tensors(self.outputs)]]  # which may raise as well
        except Exception as error:
            self.error = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            return
        self.moved = [tensor._version != version for tensor, version in zip(inputs, before)]
        shown = [*inputs, *tensors(self.outputs)]
        self.values = [tensor.detach().clone() for tensor in shown]
        self.shared = [_storage(one) == _storage(other) for one, other in itertools.combinations(shown, 2)]
        self.same = [one is other for one, other in itertools.combinations(shown, 2)]
        self.plain = [value for value in _flat(self.outputs) if not isinstance(value, Tensor)]
        self._differentiate(shown, leaves)

    def _differentiate(self, shown: list[Tensor], leaves: list[Tensor]) -> None:
        seed_torch(11)
        total = None
        for tensor in filter(lambda tensor: tensor.is_floating_point() or tensor.is_complex(), shown):
            weight = torch.randn(tensor.shape, dtype=tensor.dtype)  # independent of which tensors need a gradient
            if tensor.requires_grad:
                part = (tensor * weight).sum()
                part = part.real + part.imag if part.is_complex() else part
                total = part if total is None else total + part
        if total is None:
            return
        try:
            self.gradients = list(torch.autograd.grad(total, leaves, allow_unused=True))
        except Exception as error:
            self.backward_error = f"{type(error).__name__}: {str(error).splitlines()[0]}"


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _facts(tensor: Tensor) -> tuple[Any, ...]:
    strides = tuple(s for s, n in zip(tensor.stride(), tensor.shape) if n > 1) if tensor.numel() else ()
    return (tuple(tensor.shape), strides, tensor.dtype, tensor.requires_grad, tensor.is_leaf)


def _listed(result: Any) -> list[Any]:
    if result is None:
        return []
    return list(result) if isinstance(result, tuple) else [result]


def _flat(values: Sequence[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        flat += _flat(value) if isinstance(value, (list, tuple)) else [value]
    return flat


def tensors(values: Sequence[Any]) -> list[Tensor]:
    """The tensors among values, and in the lists among them."""
    return [value for value in _flat(values) if isinstance(value, Tensor)]


def prepared(arguments: list[Any], which: Sequence[str]) -> tuple[list[Any], list[Tensor]]:
    """Inputs of the kinds `which`: `plain`, `leaf` (needs a gradient) or `inner` (the result of a leaf that does); and
    the leaves. Inputs that share memory remain views of one tensor, and all get the kind of any of them."""
    inputs = tensors(arguments)
    wanted = dict(zip(map(id, inputs), [*which, *["plain"] * len(inputs)]))
    leaves: list[Tensor] = []
    bases: dict[int, Tensor] = {}

    def whole(tensor: Tensor) -> Tensor:
        asked = {wanted[id(each)] for each in inputs if _storage(each) == _storage(tensor)} - {"plain"}
        base = tensor if tensor._base is None else tensor._base
        if not asked or not (tensor.is_floating_point() or tensor.is_complex()):
            return base
        leaves.append(base.detach().requires_grad_())
        return leaves[-1] * 1 if "inner" in asked else leaves[-1]

    def one(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [one(each) for each in value]
        if not isinstance(value, Tensor):
            return value
        if _storage(value) not in bases:
            bases[_storage(value)] = whole(value)
        base = bases[_storage(value)]
        if value._base is None:
            return base
        return base.as_strided(value.size(), value.stride(), value.storage_offset())

    return [one(value) for value in arguments], leaves


def differences(eager: Callable[..., Any], graph: Callable[..., Any], make: Make, which: Sequence[str]) -> list[str]:
    """The differences that a caller can observe."""
    seed_torch(3)
    expected = _run(eager, make, which)
    seen = _run(graph, make, which)
    if expected.error or seen.error:
        return (
            []
            if expected.error and seen.error
            else [f"eager: {expected.error or 'no error'}; graph: {seen.error or 'no error'}"]
        )
    wrong = []
    for what in ("moved", "shared", "same", "plain"):
        if getattr(expected, what) != getattr(seen, what):
            wrong.append(f"{what}: {getattr(expected, what)} {getattr(seen, what)}")
    for i, (one, other) in enumerate(zip(expected.facts, seen.facts)):
        if one != other:
            wrong.append(f"tensor {i}: {one} {other}")
    for i, (a, b) in enumerate(zip(expected.values, seen.values)):
        if a.shape != b.shape or not _close(a, b):
            wrong.append(f"values of tensor {i}: {a} {b}")
    return wrong + _gradients(expected, seen)


def _run(function: Callable[..., Any], make: Make, which: Sequence[str]) -> Seen:
    seed_torch(5)
    arguments, leaves = prepared(make(), which)
    seed_torch(7)
    return Seen(function, arguments, leaves)


def _gradients(expected: Seen, seen: Seen) -> list[str]:
    if expected.backward_error:
        refused = any(message in expected.backward_error for message in OVERWRITTEN)
        return [] if seen.backward_error or refused else [f"backward: {expected.backward_error}; graph: none"]
    if seen.backward_error:
        return [f"backward: eager none; graph: {seen.backward_error}"]
    wrong = []
    for i, (a, b) in enumerate(zip(expected.gradients, seen.gradients)):
        one = a if a is not None else None if b is None else torch.zeros_like(b)
        other = b if b is not None else None if a is None else torch.zeros_like(a)
        if one is not None and other is not None and not _close(one, other):
            wrong.append(f"gradient of leaf {i}: {one} {other}")
    return wrong


def _close(a: Tensor, b: Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True) if a.numel() else True


def choices(tensors: int) -> list[tuple[str, ...]]:
    """The combinations of inputs that need gradients: none, each alone, all, as leaves and not."""
    combinations = [("plain",) * tensors, ("leaf",) * tensors, ("inner",) * tensors]
    for i in range(tensors):
        combinations.append(tuple("inner" if i == j else "plain" for j in range(tensors)))
        combinations.append(tuple("inner" if i == j else "leaf" for j in range(tensors)))
    return list(dict.fromkeys(combinations))


def wrong(functions: dict[str, Any], ops: Any) -> Iterator[str]:
    """The functions whose graphs differ from eager, each with its first difference."""
    for name, function in functions.items():
        for make in samples(function):
            for which in choices(len(tensors(make()))):
                for what in differences(function, getattr(ops, name), make, which)[:1]:
                    yield f"{name} {which}: {what}"
