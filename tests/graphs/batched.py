"""Gradients for several incoming gradients at once: `is_grads_batched`, `jacobian(vectorize=True)`, `jacrev`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch_seed import seed_torch

from graphs.compare import TOLERANCE, Make, is_close, prepared, tensors
from graphs.samples import samples

COUNT = 3
# vmap of torch.func has no rule for what this needs: a view of conjugates.
NOT_MAPPED = ("written_where_resolved",)


LEAST = 0.1  # of the calls succeed in eager: there are files of what eager refuses, too


def wrong(functions: dict[str, Any], ops: Any) -> Iterator[str]:
    """The functions whose graphs have other gradients than eager, or an error where eager has none. Of what eager
    refuses nothing is compared: a line says if that is nearly all."""
    asked = compared = 0
    for name, function in functions.items():
        for make in samples(function):
            for how in (_gradients, _jacobian, *([] if name in NOT_MAPPED else [_jacrev])):
                asked += 1
                expected = _run(function, make, how)
                if isinstance(expected, str):
                    continue
                compared += 1
                seen = _run(getattr(ops, name), make, how)
                if isinstance(seen, str) or not _all_close(expected, seen):
                    yield f"{name}, {how.__name__}: {expected} {seen}"
    if compared < LEAST * asked:
        yield f"only {compared} of {asked} calls were compared"


Gradients = list[Tensor | None]


def _run(function: Callable[..., Any], make: Make, how: Callable[..., Gradients]) -> Gradients | str:
    """The gradients, or the error."""
    seed_torch(5)
    try:
        return how(function, make)
    except Exception as error:
        return str(error)


def _gradients(function: Callable[..., Any], make: Make) -> Gradients:
    arguments, leaves = prepared(make(), ["inner"] * len(tensors(make())))
    seed_torch(7)
    outputs = [each for each in _outputs(function, arguments) if each.requires_grad]
    if not outputs:
        return []
    given = [torch.randn(COUNT, *each.shape, dtype=each.dtype) for each in outputs]
    return list(torch.autograd.grad(outputs, leaves, given, is_grads_batched=True, allow_unused=True))


def _outputs(function: Callable[..., Any], arguments: list[Any]) -> list[Tensor]:
    return [each for each in tensors([function(*arguments)]) if each.is_floating_point() or each.is_complex()]


def _of_first(function: Callable[..., Any], make: Make) -> tuple[Callable[[Tensor], tuple[Tensor, ...]], Tensor]:
    """The outputs of a function by its first tensor, and that tensor."""
    arguments = make()
    place = next(i for i, each in enumerate(arguments) if isinstance(each, Tensor) and each.is_floating_point())

    def of_first(x: Tensor) -> tuple[Tensor, ...]:
        seed_torch(7)
        given = [*arguments[:place], x * 1, *arguments[place + 1 :]]
        return tuple(each for each in _outputs(function, given) if not each.is_complex())

    return of_first, arguments[place].clone()


def _jacobian(function: Callable[..., Any], make: Make) -> Gradients:
    of_first, x = _of_first(function, make)
    return list(torch.autograd.functional.jacobian(of_first, x, vectorize=True))


def _jacrev(function: Callable[..., Any], make: Make) -> Gradients:
    of_first, x = _of_first(function, make)
    return list(torch.func.jacrev(of_first)(x))


def _all_close(expected: Gradients, seen: Gradients) -> bool:
    pairs = list(zip(expected, seen, strict=True))
    return all(a is b if a is None or b is None else is_close(a, b, TOLERANCE) for a, b in pairs)
