"""One call of an operator, and all that can be asked of it: each answer is tensors, or an error."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad, gradcheck, gradgradcheck
from torch.utils import _pytree as pytree
from torch_seed import seed_torch

# In messages: addresses, numbers of gradcheck, the list of all kernels and where they were registered.
_VARYING = re.compile(r"0x[0-9a-f]+|numerical:.*|This could be because the operator doesn't exist.*", re.DOTALL)
_SEED = 11  # of operators that draw random numbers
LEFT_OUT = "left out: "  # what the one answer to a call that cannot be made begins with

Answer = tuple[str, Any]
Function = Callable[..., Any]


class Call(NamedTuple):
    """A function of some tensors. `inplace` and `out` are its variants, where it has them."""

    name: str
    tensors: list[Tensor]  # what is differentiated
    function: Function  # of as many tensors
    inplace: Function | None = None  # of the same: changes its first argument, or with `copy` a copy of that
    out: Function | None = None  # of the same, and of `out=`
    checked: bool = False  # against numeric derivatives, too
    first_only: bool = False  # at a place where second derivatives are a matter of convention


def left_out(name: str, why: str) -> Call:
    """A call that cannot be made: none of its questions is asked."""

    def function() -> None:
        raise NotImplementedError(f"{LEFT_OUT}{why}")

    return Call(name, [], function)


def answers(call: Call) -> Iterator[tuple[str, Answer]]:
    """Everything that is asked, by name."""
    yield "value", answer(lambda: values(call.function, call.tensors))
    yield "view", answer(lambda: view(call.function, call.tensors))
    if call.out is not None:
        yield "out", answer(lambda: out(call))
        if call.tensors:
            yield "out with gradients", answer(lambda: out(call, differentiated=True))
    if call.tensors:
        yield from _derivatives(call.function, call, "")
    if call.tensors and call.inplace is not None:
        yield from _derivatives(partial(call.inplace, copy=True), call, "in place, ")
        yield "in place, value", answer(lambda: changed(call))
        yield "in place, leaf", answer(lambda: values(partial(call.inplace, copy=False), leaves(call.tensors)))


def _derivatives(function: Function, call: Call, how: str) -> Iterator[tuple[str, Answer]]:
    yield f"{how}gradients", answer(lambda: gradients(function, call.tensors, second=False))
    yield f"{how}tangents", answer(lambda: tangents(function, call.tensors))
    if not call.first_only:
        yield f"{how}second gradients", answer(lambda: gradients(function, call.tensors, second=True))
    if call.checked:
        yield f"{how}gradcheck", answer(lambda: checked(function, call.tensors))
        yield f"{how}forward gradcheck", answer(lambda: checked(function, call.tensors, forward=True))
    if call.checked and not call.first_only:
        yield f"{how}gradgradcheck", answer(lambda: checked(function, call.tensors, second=True))


def run(call: Call) -> None:
    """The call, and nothing around it."""
    with contextlib.suppress(Exception):
        call.function(*call.tensors)


def answer(ask: Callable[[], list[Tensor]]) -> Answer:
    """What was given, or the error."""
    seed_torch(_SEED)
    try:
        return "values", [dense(tensor) for tensor in ask()]
    except Exception as error:
        return "error", f"{type(error).__name__}: {_VARYING.sub('', str(error))}"


def values(function: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The results, and whether each has a gradient."""
    results = tensors_in(function(*tensors))
    return [*results, torch.tensor([r.requires_grad for r in results])]


def changed(call: Call) -> list[Tensor]:
    """The result in place, and how often it was written to."""
    assert call.inplace is not None
    results = tensors_in(call.inplace(*call.tensors, copy=True))
    return [*results, torch.tensor([result._version for result in results])]


def view(function: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """For each result: whether it is a view, of the first tensor, its version, and what a write to it gives."""
    base = [tensor.clone() for tensor in leaves(tensors)]
    collected = []
    for result in tensors_in(function(*base)):
        facts = [result._is_view(), bool(base) and result._base is base[0], result._version]
        collected.append(torch.tensor(facts))
        if result._is_view() and differentiable(result) and not collected[1:]:
            result.mul_(2)
            collected += [torch.tensor([tensor._version for tensor in (result, *base)]), *base]
    return collected


def gradients(function: Function, tensors: Sequence[Tensor], *, second: bool) -> list[Tensor]:
    """The gradients for random cotangents, or the second ones: of the tensors and of the cotangents."""
    own = leaves(tensors)
    roots = [result for result in tensors_in(function(*own)) if result.requires_grad]
    cotangents = [normal_like(root).requires_grad_(second) for root in roots]
    first = _grad(roots, own, cotangents, create_graph=second)
    again = [tensor for tensor in first if tensor.requires_grad]
    if not second or not again:
        return first
    seed_torch(_SEED + 1)
    return _grad(again, [*own, *cotangents], [normal_like(tensor) for tensor in again])


def checked(
    function: Function, tensors: Sequence[Tensor], *, forward: bool = False, second: bool = False
) -> list[Tensor]:
    """Whether torch's own comparison with numeric derivatives agrees; where it does not, an error says where."""

    own = leaves(tensors)
    has_gradient = [result.requires_grad for result in tensors_in(function(*own))]

    def seeded(*values: Tensor) -> Any:
        seed_torch(_SEED)
        return tuple(itertools.compress(tensors_in(function(*values)), has_gradient))

    if second:
        agrees = gradgradcheck(seeded, own, fast_mode=True)
    else:
        agrees = gradcheck(seeded, own, fast_mode=True, check_forward_ad=forward, check_backward_ad=not forward)
    return [torch.tensor(agrees)]


def tangents(function: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tangents of the results, for random tangents of all."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(tensor.detach(), normal_like(tensor)) for tensor in tensors]
        collected = [forward_ad.unpack_dual(result).tangent for result in tensors_in(function(*duals))]
    return [torch.empty(0) if tangent is None else tangent for tangent in collected]


def out(call: Call, *, differentiated: bool = False) -> list[Tensor]:
    """What is written, into tensors of the right shape, and their versions."""
    values = leaves(call.tensors) if differentiated else [tensor.detach() for tensor in call.tensors]
    with torch.no_grad():
        results = pytree.tree_map_only(Tensor, torch.zeros_like, call.function(*values))
    seed_torch(_SEED)
    assert call.out is not None
    call.out(*values, out=results)
    written = tensors_in(results)
    return [*written, torch.tensor([tensor._version for tensor in written])]


def leaves(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [tensor.detach().requires_grad_(differentiable(tensor)) for tensor in tensors]


def differentiable(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def normal_like(tensor: Tensor) -> Tensor:
    """Random numbers that depend on the shape alone."""
    return torch.randn(tensor.shape, dtype=tensor.dtype)


def bound(function: Function, values: tuple[Any, tuple[Any, ...], dict[str, Any]], places: Sequence[int]) -> Function:
    """A function of the tensors at some places of the arguments: a first one, others, and those by name."""
    leaves, spec = pytree.tree_flatten(values)

    def call(*tensors: Tensor, **more: Any) -> Any:
        filled = list(leaves)
        for place, tensor in zip(places, tensors):
            filled[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(filled, spec)
        return function(first, *args, **kwargs, **more)

    return call


def changing(function: Function) -> Function:
    """A function that changes its first argument, as one that gives it, or a changed copy."""

    def call(first: Any, *args: Any, copy: bool, **kwargs: Any) -> Any:
        target = pytree.tree_map_only(Tensor, Tensor.clone, first) if copy else first
        function(target, *args, **kwargs)
        return target

    return call


def writing(function: Any) -> Function:
    """An overload that writes into tensors, which have names of their own, as a function with `out=`."""
    names = [argument.name for argument in function._schema.arguments if argument.is_out]

    def call(*args: Any, out: Any, **kwargs: Any) -> Any:
        into = [out] if len(names) == 1 else list(out)
        return function(*args, **kwargs, **dict(zip(names, into)))

    return call


def tensors_in(value: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]


def dense(tensor: Tensor) -> Tensor:
    """A copy that can be kept, and compared."""
    plain = tensor.detach()
    plain = plain.to_dense() if plain.layout != torch.strided else plain
    return plain.resolve_conj().resolve_neg().cpu().clone()


def _grad(
    roots: Sequence[Tensor], own: Sequence[Tensor], cotangents: Sequence[Tensor], *, create_graph: bool = False
) -> list[Tensor]:
    gradients = torch.autograd.grad(roots, own, cotangents, create_graph=create_graph, allow_unused=True)
    return [torch.zeros_like(one) if tensor is None else tensor for tensor, one in zip(gradients, own)]
