"""Values that pass between Python and a library of formulas, as `cpp/verify.h` declares them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

NONE, TENSOR, INT, FLOAT, BOOL, COMPLEX, STRING, LIST = range(8)
_NUMBERS = {int: INT, float: FLOAT, bool: BOOL, complex: COMPLEX}
_FORMATS = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_capsule_of = ctypes.pythonapi.PyCapsule_New
_capsule_of.restype, _capsule_of.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Value(ctypes.Structure):
    """One value: a tensor, a number, a string, or a list of values."""

    _fields_ = (
        ("kind", ctypes.c_int64),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("imaginary", ctypes.c_double),
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_int64),
    )


class Scope:
    """Makes values for one call, and keeps what they refer to. Used in a `with` statement."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._tensors: list[int] = []

    def __enter__(self) -> Scope:
        return self

    def __exit__(self, *_: object) -> None:
        for pointer in self._tensors:
            tensor_at(pointer)

    def value(self, of: Any) -> Value:
        """A value of an argument. ValueError for one of a type that no formula takes."""
        if of is None or isinstance(of, (torch.Generator, torch.layout)):  # which no formula reads
            return Value(NONE)
        if isinstance(of, torch.dtype):
            of = torch.empty(0, dtype=of)
        if isinstance(of, Tensor):
            pointer = _pointer_of(torch._C._aoti.unsafe_alloc_void_ptr_from_tensor(of), None)
            self._tensors.append(pointer)
            return Value(TENSOR, data=pointer)
        if type(of) in _NUMBERS:
            return Value(_NUMBERS[type(of)], of if isinstance(of, int) else 0, of.real, of.imag)
        if isinstance(of, (str, torch.device)):
            data = ctypes.create_string_buffer(str(of).encode())
            self._kept.append(data)
            return Value(STRING, data=ctypes.addressof(data), size=len(data) - 1)
        if isinstance(of, (list, tuple)):
            return Value(LIST, data=ctypes.addressof(self.array(of)), size=len(of))
        return Value(INT, integer=_FORMATS.index(of))

    def array(self, of: Sequence[Any]) -> ctypes.Array[Value]:
        """Values one after the other."""
        values = (Value * max(len(of), 1))(*map(self.value, of))
        self._kept.append(values)
        return values


def tensor_at(pointer: int) -> Tensor:
    """The tensor at an address, which is freed."""
    return torch._C._aoti.alloc_tensor_by_stealing_from_void_ptr(_capsule_of(pointer, None, None))


def tensors_of(value: Value) -> list[Tensor | None]:
    """The tensors of a result; None for an undefined one."""
    if value.kind == LIST:
        members = (Value * value.size).from_address(value.data) if value.size else ()
        return [each for member in members for each in tensors_of(member)]
    return [tensor_at(value.data) if value.kind == TENSOR else None]
