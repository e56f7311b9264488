"""The names of kernels. A run that finds all of them unchanged needs no more of their signatures."""

from __future__ import annotations

from gradmill.model.native import FunctionNames

DEFAULT_KEY = "Default"  # the key of derivatives for all dispatch keys without their own


def kernel_title(names: FunctionNames, namespace: str) -> str:
    """The qualified name of a kernel: `TraceType::add__Tensor`."""
    return f"{namespace}::{joined_name(names.cpp_name, names.name.partition('.')[2], DEFAULT_KEY)}"


def joined_name(name: str, overload: str, dispatch_key: str) -> str:
    """The name of a kernel: `add__Tensor`, with another dispatch key `add__Tensor_NestedTensor`."""
    return "_".join((name, *filter(None, [overload]), *([] if dispatch_key == DEFAULT_KEY else [dispatch_key])))
