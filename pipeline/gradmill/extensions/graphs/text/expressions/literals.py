"""C++ expressions for numbers, strings and torch's constants."""

from __future__ import annotations

import math

from gradmill.extensions.graphs.model import Constant

_NUMBER_TYPES = {
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "int[]": "std::vector<int64_t>",
    "float[]": "std::vector<double>",
    "bool[]": "c10::List<bool>",
    "str[]": "std::vector<std::string>",
    "ScalarType": "at::ScalarType",
    "Device": "at::Device",
    "Layout": "at::Layout",
    "MemoryFormat": "at::MemoryFormat",
    "Scalar": "at::Scalar",
    "str": "std::string",
    "SymInt": "c10::SymInt",
    "Tensor": "at::Tensor",
    "gap": "graph::Gap",
}
# The C++ types of variables for numbers, strings and lists of these; also for optional ones.
NUMBER_TYPES = _NUMBER_TYPES | {f"{type_}?": f"std::optional<{held}>" for type_, held in _NUMBER_TYPES.items()}
INITIAL = {"at::Device": "{at::kCPU}"}  # of members of types without a default
_DTYPES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "bool": "Bool",
    "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
    "uint8": "Byte", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    "complex32": "ComplexHalf", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip
_LAYOUTS = {"strided": "at::kStrided", "sparse_coo": "at::kSparse"}
_FORMATS = {
    "contiguous_format": "Contiguous",
    "preserve_format": "Preserve",
    "channels_last": "ChannelsLast",
    "channels_last_3d": "ChannelsLast3d",
}


def floating(value: float) -> str:
    """A floating-point literal that is exact."""
    if math.isnan(value):
        return "std::numeric_limits<double>::quiet_NaN()"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}std::numeric_limits<double>::infinity()"
    return repr(float(value))


def whole(value: int) -> str:
    """An integer literal of type int64_t."""
    return "std::numeric_limits<int64_t>::min()" if value == -(2**63) else f"int64_t({value})"


def quoted(text: str) -> str:
    """A string literal, with all special characters escaped."""
    escaped = "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\?' else "".join(f"\\{b:03o}" for b in c.encode())
        for c in text
    )
    return f'"{escaped}"'


def constant(value: Constant) -> str:
    """A dtype, layout, device or memory format."""
    name = value.name.removeprefix("torch.")
    if value.kind == "ScalarType":
        return f"at::ScalarType::{_DTYPES[name]}"
    if value.kind == "Layout":
        return _LAYOUTS[name]
    if value.kind == "MemoryFormat":
        return f"at::MemoryFormat::{_FORMATS[name]}"
    return f"at::Device({quoted(name)})"
