"""Runs a graph and its eager function on equal inputs, and compares all effects that a caller can observe."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_seed import seed_torch

from graphs.documented import is_documented, is_undefined
from graphs.samples import samples

Make = Callable[[], list[Any]]
AS_IT_IS = "as it is"
TOLERANCE = 1e-10
ROUNDING = 1e-4  # of float32, where gradients are added in another order, or cast before that
# Errors of eager in the backward for which a functional graph computes a gradient: a saved value was overwritten, or
# filled through an expanded view.
PYTHONS = ("ZeroDivisionError", "OverflowError", "AssertionError")  # errors of Python, which C++ has no class for
CHECKED = "ValueError: Using a target size"  # what torch checks in Python, and operators check again
OVERWRITTEN = ("modified by an inplace operation", "more than one element of the written-to tensor refers to a single")


class Seen:
    """The effects of one run that a caller can observe."""

    def __init__(self, function: Callable[..., Any], arguments: list[Any], leaves: list[Tensor]) -> None:
        self.error = ""
        self.outputs: list[Any] = []
        self.backwards: dict[str, Backward] = {}
        inputs = tensors(arguments)
        before = [tensor._version for tensor in inputs]
        try:
            self.outputs = _listed(function(*arguments))
            self.facts = [_facts(tensor) for tensor in [*inputs, *tensors(self.outputs)]]  # which may raise as well
        except Exception as error:
            self.error = _error(error)
            return
        self.moved = [tensor._version != version for tensor, version in zip(inputs, before)]
        shown = [*inputs, *tensors(self.outputs)]
        self.values = [tensor.detach().clone() for tensor in shown]
        self.shared = [_storage(one) == _storage(other) for one, other in itertools.combinations(shown, 2)]
        self.same = [one is other for one, other in itertools.combinations(shown, 2)]
        self.plain = [value for value in _flat(self.outputs) if not isinstance(value, Tensor)]
        self._differentiate(shown, leaves)

    def _differentiate(self, shown: list[Tensor], leaves: list[Tensor]) -> None:
        """The gradients of each tensor alone, where those of the others are undefined, and of all."""
        seed_torch(11)
        losses: dict[str, Tensor] = {}
        for i, tensor in enumerate(shown):
            if tensor.is_floating_point() or tensor.is_complex():
                weight = torch.randn(tensor.shape, dtype=tensor.dtype)  # independent of which tensors need a gradient
                if tensor.requires_grad:
                    loss = (tensor * weight).sum()
                    losses[f"tensor {i}"] = loss.real + loss.imag if loss.is_complex() else loss
        if len(losses) > 1:
            losses["all"] = torch.stack([loss.double() for loss in losses.values()]).sum()
        last = len(losses) - 1
        self.backwards = {of: Backward(loss, leaves, again=i < last) for i, (of, loss) in enumerate(losses.items())}


class Backward:
    """The gradients of a loss, or the error. `again`: whether another backward of the graph follows."""

    def __init__(self, loss: Tensor, leaves: list[Tensor], *, again: bool) -> None:
        self.error = ""
        self.gradients: Sequence[Tensor | None] = [None] * len(leaves)
        try:
            if leaves:
                self.gradients = torch.autograd.grad(loss, leaves, allow_unused=True, retain_graph=again)
        except Exception as error:
            self.error = _error(error)


def _error(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def _class(error: str) -> str:
    """The class of an error, as C++ can raise it."""
    name = error.split(":", maxsplit=1)[0]
    return "RuntimeError" if name in PYTHONS or error.startswith(CHECKED) else name


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


def laid_out(make: Make, layout: str) -> Make:
    """The same inputs in another layout: those that share their memory with no other one."""

    def made() -> list[Any]:
        arguments = make()
        storages = [_storage(each) for each in tensors(arguments)]

        def one(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [one(each) for each in value]
            alone = isinstance(value, Tensor) and value._base is None and storages.count(_storage(value)) == 1
            return LAYOUTS[layout](value) if alone and value.is_floating_point() else value

        return [one(value) for value in arguments]

    return made


def _strided(tensor: Tensor, strides: Sequence[int]) -> Tensor:
    made = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype)
    made.untyped_storage().fill_(0)  # the gaps, which a function may read
    return made.copy_(tensor)


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    AS_IT_IS: lambda tensor: tensor,
    "permuted": lambda tensor: _strided(tensor, tensor.mT.contiguous().mT.stride()) if tensor.dim() > 1 else tensor,
    "with gaps": lambda tensor: _strided(tensor, [2 * stride for stride in tensor.stride()]),
    "a view with gaps": lambda tensor: torch.stack([tensor, tensor + 1], -1)[..., 0],
    "expanded": lambda tensor: tensor[:1].clone().expand(tensor.shape) if tensor.dim() and len(tensor) else tensor,
    "single": lambda tensor: tensor.float(),
}


def differences(
    eager: Callable[..., Any], graph: Callable[..., Any], make: Make, which: Sequence[str], layout: str = AS_IT_IS
) -> list[str]:
    """The differences that a caller can observe."""
    seed_torch(3)
    expected = _run(eager, laid_out(make, layout), which)
    seen = _run(graph, laid_out(make, layout), which)
    tolerance = ROUNDING if layout == "single" else TOLERANCE
    if expected.error or seen.error:
        is_same = _class(expected.error) == _class(seen.error)
        return [] if is_same else [f"eager: {expected.error or 'no error'}; graph: {seen.error or 'no error'}"]
    wrong = []
    for what in ("moved", "shared", "same", "plain"):
        if getattr(expected, what) != getattr(seen, what):
            wrong.append(f"{what}: {getattr(expected, what)} {getattr(seen, what)}")
    for i, (one, other) in enumerate(zip(expected.facts, seen.facts)):
        if one != other:
            wrong.append(f"tensor {i}: {one} {other}")
    for i, (a, b) in enumerate(zip(expected.values, seen.values)):
        if a.shape != b.shape or not is_close(a, b, tolerance):
            wrong.append(f"values of tensor {i}: {a} {b}")
    return wrong + _gradients(expected, seen, tolerance)


def _run(function: Callable[..., Any], make: Make, which: Sequence[str]) -> Seen:
    seed_torch(5)
    arguments, leaves = prepared(make(), which)
    seed_torch(7)
    return Seen(function, arguments, leaves)


def _gradients(expected: Seen, seen: Seen, tolerance: float) -> list[str]:
    """The differences in gradients. A tensor that needs one in eager or in the graph alone gives none."""
    wrong = []
    for of in dict.fromkeys([*expected.backwards, *seen.backwards]):
        one, other = expected.backwards.get(of), seen.backwards.get(of)
        if one is not None and one.error and any(message in one.error for message in OVERWRITTEN):
            continue
        errors = [each.error if each is not None else "" for each in (one, other)]
        if any(errors):
            if _class(errors[0]) != _class(errors[1]):
                eager, graph = (error or "none" for error in errors)
                wrong.append(f"backward of {of}: eager {eager}; graph: {graph}")
            continue
        pairs = itertools.zip_longest(one.gradients if one else (), other.gradients if other else ())
        for i, (a, b) in enumerate(pairs):
            if (a is None) != (b is None) or (a is not None and not is_close(a, b, tolerance)):
                wrong.append(f"gradient of leaf {i} by {of}: {a} {b}")
    return wrong


def is_close(a: Tensor, b: Tensor, tolerance: float) -> bool:
    """Whether two tensors are of one dtype and layout, with equal values but for rounding."""
    if a.shape != b.shape or a.dtype != b.dtype or a.layout != b.layout:
        return False
    a, b = a.to_dense(), b.to_dense()
    return torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True) if a.numel() else True


def choices(tensors: int) -> list[tuple[str, ...]]:
    """The combinations of inputs that need gradients: none, each alone, all, as leaves and not."""
    combinations = [("plain",) * tensors, ("leaf",) * tensors, ("inner",) * tensors]
    for i in range(tensors):
        combinations.append(tuple("inner" if i == j else "plain" for j in range(tensors)))
        combinations.append(tuple("inner" if i == j else "leaf" for j in range(tensors)))
    return list(dict.fromkeys(combinations))


def wrong(functions: dict[str, Any], ops: Any) -> Iterator[str]:
    """The functions whose graphs differ from eager, each with its first difference. What docs/graphs.md lists is a
    difference of the inputs as they are made; in other layouts it is none."""
    for name, function in functions.items():
        for make, layout in itertools.product(samples(function), LAYOUTS):
            for which in choices(len(tensors(make()))):
                found = differences(function, getattr(ops, name), make, which, layout)[:1]
                if found and (layout == AS_IT_IS or not _may_differ(function, make, which, layout, found[0])):
                    yield f"{name}, {layout}, {which}: {found[0]}"


# Reads memory between the elements of its input, of which a graph knows no more than its elements.
BETWEEN = "restrided"


def _may_differ(function: Callable[..., Any], make: Make, which: tuple[str, ...], layout: str, found: str) -> bool:
    between = function.__name__ == BETWEEN and layout == "a view with gaps" and found.startswith("gradient")
    return between or is_documented(found, which) or is_undefined(function, laid_out(make, layout)())
