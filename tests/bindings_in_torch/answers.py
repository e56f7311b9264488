"""What a call gives, as data: two answers are equal if and only if nothing differs that a caller could see."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

_SEED = 11
# In messages: addresses, C++ frames, folders that libraries were compiled in.
_VARYING = re.compile(r"0x[0-9a-f]+|Exception raised from .*|(?<=Triggered internally at )\S*/", re.DOTALL)

Facts = tuple[Any, ...]


class Answer(NamedTuple):
    """Of one call."""

    result: Facts  # or the error
    arguments: Facts  # afterwards
    warned: tuple[tuple[str, str], ...]
    random: float  # the next random number

    @property
    def failed(self) -> bool:
        return self.result[0] == "error"


def answer(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Answer:
    """What the call gives, raises, warns of, and leaves behind."""
    torch.manual_seed(_SEED)
    values = tensors_of((args, kwargs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = facts(function(*args, **kwargs), values)
        except Exception as error:
            result = ("error", type(error).__module__, type(error).__qualname__, _message(error))
    warned = tuple((warning.category.__name__, _VARYING.sub("", str(warning.message))) for warning in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left = tuple(facts(value, ()) for value in values)
        return Answer(result, left, warned, torch.rand(()).item())


def _message(error: Exception) -> str:
    try:
        return _VARYING.sub("", str(error))
    except UnicodeDecodeError as why:
        return str(why)


def tensors_of(values: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, Tensor)]


def facts(value: Any, values: Sequence[Tensor]) -> Facts:
    """A value as data: `given` are the tensors that it may be, or share memory with."""
    if isinstance(value, Tensor):
        return _of_tensor(value, values)
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, (list, tuple)):
        return (kind, *_of_fields(value), *(facts(member, values) for member in value))
    if isinstance(value, dict):
        return (kind, *((key, facts(member, values)) for key, member in value.items()))
    if isinstance(value, torch.Generator):
        return (kind, bytes(value.get_state().numpy()))
    if isinstance(value, torch.storage._LegacyStorage | torch.UntypedStorage):
        return (kind, value.nbytes())
    return (kind, _VARYING.sub("", repr(value)))


def _of_fields(value: Any) -> Facts:
    """Of a named result: its fields and how it is printed."""
    if not hasattr(type(value), "n_sequence_fields"):
        return ()
    kind = type(value)
    counts = (kind.n_fields, kind.n_sequence_fields, kind.n_unnamed_fields)
    fields = [name for name in vars(kind) if not name.startswith("__")]
    return (counts, tuple(fields), kind.__match_args__, repr(value))


def _of_tensor(value: Tensor, values: Sequence[Tensor]) -> Facts:
    grad_fn = type(value.grad_fn).__name__ if value.grad_fn is not None else None
    return (
        f"{type(value).__module__}.{type(value).__qualname__}",
        str(value.dtype),
        str(value.device),
        str(value.layout),
        str(tuple(value.shape)),
        value.requires_grad,
        value.is_leaf,
        grad_fn,
        None if value.is_inference() else value._version,
        tuple(value is other for other in values),
        (value._is_view(), tuple(value._base is other for other in values)),
        tuple(_shares(value, other) for other in values),
        *_content(value),
    )


def _shares(one: Tensor, other: Tensor) -> bool:
    return _address(one) is not None and _address(one) == _address(other)


def _address(value: Tensor) -> int | None:
    """Where the memory is, if there is any."""
    try:
        return value.untyped_storage().data_ptr() or None
    except (NotImplementedError, RuntimeError):
        return None


def _content(value: Tensor) -> Facts:
    """The numbers, bit by bit, and where they are."""
    with torch.no_grad():
        value = value.detach()
        if value.is_nested and value.layout == torch.strided:
            return tuple(_content(member) for member in value.unbind())
        if value.layout == torch.sparse_coo:
            return (value.is_coalesced(), _content(value._indices()), _content(value._values()))
        if value.layout in (torch.sparse_csr, torch.sparse_bsr):
            return tuple(map(_content, (value.crow_indices(), value.col_indices(), value.values())))
        if value.layout in (torch.sparse_csc, torch.sparse_bsc):
            return tuple(map(_content, (value.ccol_indices(), value.row_indices(), value.values())))
        if value.layout != torch.strided:
            return (_content(value.to_dense()),)
        where = (str(value.stride()), str(value.storage_offset()), value.is_conj(), value.is_neg())
        if value.is_meta:
            return where
        if value.is_quantized:
            return (*where, str(value.qscheme()), _bytes(value.int_repr()))
        return (*where, _bytes(value.resolve_conj().resolve_neg()))


def _bytes(value: Tensor) -> bytes:
    flat = value.contiguous().reshape(-1)
    return b"" if not flat.numel() else flat.view(torch.uint8).numpy().tobytes()
