"""One call of an operator, and all that can be asked of it: each answer is tensors, or an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_SEED = 11  # of operators that draw random numbers

Answer = tuple[str, Any]
Function = Callable[..., Any]


class Call(NamedTuple):
    """A function of some tensors. `inplace` and `out` are its variants, where it has them."""

    name: str
    tensors: list[Tensor]  # what is differentiated
    function: Function  # of as many tensors
    inplace: Function | None = None  # of the same, and changes the first
    out: Function | None = None  # of the same, and of `out=`


def answers(call: Call) -> Iterator[tuple[str, Answer]]:
    """Everything that is asked, by name."""
    yield "value", answer(lambda: values(call.function, call.tensors))
    yield "view", answer(lambda: view(call.function, call.tensors))
    if call.out is not None:
        yield "out", answer(lambda: out(call))
        if call.tensors:
            yield "out with gradients", answer(lambda: out(call, differentiated=True))
    if not call.tensors:
        return
    yield "gradients", answer(lambda: gradients(call.function, call.tensors))
    yield "tangents", answer(lambda: tangents(call.function, call.tensors))
    if call.inplace is not None:
        changed = on_copy(call.inplace)
        yield "in place", answer(lambda: gradients(changed, call.tensors))
        yield "in place, tangents", answer(lambda: tangents(changed, call.tensors))
        yield "in place, leaf", answer(lambda: values(call.inplace, leaves(call.tensors)))


def answer(ask: Callable[[], list[Tensor]]) -> Answer:
    """What was given, or the error."""
    torch.manual_seed(_SEED)
    try:
        return "values", [dense(tensor) for tensor in ask()]
    except Exception as error:
        return "error", f"{type(error).__name__}: {_ADDRESS.sub('', str(error))}"


def values(function: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The results, and whether each has a gradient."""
    results = tensors_in(function(*tensors))
    return [*results, torch.tensor([r.requires_grad for r in results])]


def view(function: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """For each result: whether it is a view, of the first tensor, its version, and what a write to it gives."""
    base = [tensor.clone() for tensor in leaves(tensors)]
    found = []
    for result in tensors_in(function(*base)):
        facts = [result._is_view(), bool(base) and result._base is base[0], result._version]
        found.append(torch.tensor(facts))
        if result._is_view() and differentiable(result) and not found[1:]:
            result.mul_(2)
            found += [torch.tensor([tensor._version for tensor in (result, *base)]), *base]
    return found


def gradients(function: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """First and second gradients, for random cotangents. The second are of the tensors and of the cotangents."""
    own = leaves(tensors)
    roots = [result for result in tensors_in(function(*own)) if result.requires_grad]
    cotangents = [normal_like(root).requires_grad_() for root in roots]
    first = _grad(roots, own, cotangents, create_graph=True)
    again = [tensor for tensor in first if tensor.requires_grad]
    if not again:
        return first
    torch.manual_seed(_SEED + 1)
    return [*first, *_grad(again, [*own, *cotangents], [normal_like(tensor) for tensor in again])]


def tangents(function: Function, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tangents of the results, for random tangents of all."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(tensor.detach(), normal_like(tensor)) for tensor in tensors]
        found = [forward_ad.unpack_dual(result).tangent for result in tensors_in(function(*duals))]
    return [torch.empty(0) if tangent is None else tangent for tangent in found]


def out(call: Call, *, differentiated: bool = False) -> list[Tensor]:
    """What is written, into tensors of the right shape, and their versions."""
    given = leaves(call.tensors) if differentiated else [tensor.detach() for tensor in call.tensors]
    with torch.no_grad():
        results = pytree.tree_map_only(Tensor, torch.zeros_like, call.function(*given))
    torch.manual_seed(_SEED)
    assert call.out is not None
    call.out(*given, out=results)
    written = tensors_in(results)
    return [*written, torch.tensor([tensor._version for tensor in written])]


def on_copy(function: Function) -> Function:
    """A function that changes its first tensor, made to change a copy."""
    return lambda first, *others: function(first.clone(), *others)


def leaves(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [tensor.detach().requires_grad_(differentiable(tensor)) for tensor in tensors]


def differentiable(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def normal_like(tensor: Tensor) -> Tensor:
    """Random numbers that depend on the shape alone."""
    return torch.randn(tensor.shape, dtype=tensor.dtype)


def tensors_in(value: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]


def dense(tensor: Tensor) -> Tensor:
    """A copy that can be kept, and compared."""
    plain = tensor.detach()
    plain = plain.to_dense() if plain.layout != torch.strided else plain
    return plain.resolve_conj().resolve_neg().clone()


def _grad(
    roots: Sequence[Tensor], own: Sequence[Tensor], cotangents: Sequence[Tensor], *, create_graph: bool = False
) -> list[Tensor]:
    found = torch.autograd.grad(roots, own, cotangents, create_graph=create_graph, allow_unused=True)
    return [torch.zeros_like(one) if tensor is None else tensor for tensor, one in zip(found, own)]
