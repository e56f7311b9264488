"""Loads a library of formulas, which calls functions of libtorch that it is not linked with."""

from __future__ import annotations

import ctypes
import os

from pipeline.verify.child.operators import libraries


def load(path: str) -> ctypes.CDLL:
    """The library at `path`, with what libtorch exports, and with the addresses of the functions that libtorch hides.
    OSError if it cannot be loaded."""
    found = next(each for each in libraries() if os.path.basename(each) == "libtorch_cpu.so")
    torch = ctypes.CDLL(found, mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(path)
    base = ctypes.c_size_t.from_address(torch._handle).value  # the first member of glibc's `link_map`
    count = ctypes.c_size_t.in_dll(library, "gradmill_hidden").value
    table = (ctypes.c_size_t * (1 + count)).in_dll(library, "gradmill_hidden")
    for place in range(1, 1 + count):
        table[place] += base
    return library
