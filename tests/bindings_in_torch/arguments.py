"""Arguments as data: each call makes its own from a description, so that none sees what another one changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Made(NamedTuple):
    """What a function gives when it is called with some arguments, which may be such descriptions."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}


def made(what: Any) -> Any:
    """A description, or a list, tuple or dict with descriptions in it, as objects."""
    if isinstance(what, Made):
        return what.function(*made(what.args), **made(what.kwargs))
    if type(what) in (list, tuple):
        return type(what)(made(member) for member in what)
    if type(what) is dict:
        return {key: made(member) for key, member in what.items()}
    return what


def make(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Made:
    """The description of what a function gives."""
    return Made(function, args, kwargs)


def tensor(
    *shape: int, dtype: torch.dtype = torch.float32, start: float = 0.1, step: float = 0.07, **more: bool
) -> Made:
    """A tensor of numbers in steps. `more` is `requires_grad`."""
    return Made(_tensor, (shape, dtype, start, step), more)


def integers(*shape: int, dtype: torch.dtype = torch.int64) -> Made:
    return tensor(*shape, dtype=dtype, start=0, step=1)


def _tensor(
    shape: tuple[int, ...], dtype: torch.dtype, start: float, step: float, *, requires_grad: bool = False
) -> Tensor:
    count = torch.Size(shape).numel()
    numbers = (start + step * torch.arange(count, dtype=torch.float64)).reshape(shape).to(dtype)
    return numbers.requires_grad_(requires_grad)


def generator(seed: int = 3) -> Made:
    return Made(lambda: torch.Generator().manual_seed(seed))
