"""How a C function takes an argument: as pointers, integers and doubles.

An optional is a pointer, a list a pointer and a length, a device its type and its index.

torchgen: `gen_aoti_c_shim.convert_arg_type_and_name`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.grammar.types import element
from gradmill.model.regex import regex
from gradmill.model.schema import is_list
from gradmill.problems.problem import SpecError

_ENUM, _VALUE = "enum", "value"


class CArgument(Struct, frozen=True, gc=False, array_like=True):
    """An argument: its parameters, and how the C++ value is made from them."""

    types: tuple[str, ...]
    names: tuple[str, ...]
    cpp: str  # the C++ type
    form: str  # the section of the text that makes the value
    inner: str = ""  # the C++ type of members, or the size of a list of bools


# Each schema type -> the type in C, in C++, and how the second is made from the first.
_BASE = {
    "Tensor": ("AtenTensorHandle", "at::Tensor", "tensor"),
    "bool": ("int32_t", "bool", _VALUE),
    "int": ("int64_t", "int64_t", _VALUE),
    "SymInt": ("int64_t", "c10::SymInt", _VALUE),
    "Scalar": ("double", "c10::Scalar", _VALUE),
    "float": ("double", "double", _VALUE),
    "str": ("const char*", "", _VALUE),
    "DeviceIndex": ("int32_t", "c10::DeviceIndex", _ENUM),
    "Layout": ("int32_t", "c10::Layout", _ENUM),
    "MemoryFormat": ("int32_t", "c10::MemoryFormat", _ENUM),
    "ScalarType": ("int32_t", "c10::ScalarType", _ENUM),
    "Generator": ("AtenGeneratorHandle", "at::Generator", "generator"),
}
_LISTS = {"bool": "bool_list", "at::Tensor": "tensor_list", "::std::optional<at::Tensor>": "optional_tensor_list"}
_OPTIONALS = {"c10::Device": "optional_device", "at::Tensor": "optional_tensor"}
_SIZE = regex(r".*\[(\d+)\]")


def c_argument(type_: str, name: str, string: str, *, write: bool = False) -> CArgument | None:
    """The argument of a C function for one of a schema; None if C has none. `string`: the C++ type of strings;
    `write`: whether the function writes to it. SpecError for a list of devices or lists, or of bools without a size."""
    if type_ == "Device":
        return CArgument(("int32_t", "int32_t"), (name, f"{name}_index_"), "c10::Device", "device")
    if type_ in _BASE:
        c, cpp, form = _BASE[type_]
        return CArgument((c,), (name,), cpp or string, "written_tensor" if write and form == "tensor" else form)
    inner = element(type_)
    of = c_argument(inner, name, string) if inner is not None else None
    if of is None:
        return None
    return _list(type_, of, write=write) if is_list(type_) else _optional(of)


def c_return(type_: str) -> str:
    """The type in C of the value that a pointer to a return points at; "" if C has none."""
    return _BASE[type_][0] if type_ in _BASE else ""


def _optional(of: CArgument) -> CArgument:
    first, *others = of.types
    form = _OPTIONALS.get(of.cpp, "optional_list" if of.cpp.startswith("c10::ArrayRef<") else "optional")
    inner = of.cpp.removeprefix("c10::ArrayRef<").removesuffix(">") if form == "optional_list" else of.cpp
    return CArgument(
        types=(f"{first}*", *others), names=of.names, cpp=f"::std::optional<{of.cpp}>", form=form, inner=inner
    )


def _list(type_: str, of: CArgument, *, write: bool) -> CArgument:
    if len(of.types) != 1:
        raise SpecError(f"a list of this type cannot be passed by C: '{type_}'", field=("func",), needle=type_)
    sized, inner = _SIZE.fullmatch(type_), of.cpp
    if inner == "bool":
        if sized is None:
            raise SpecError("a list of bool needs a size in C", "write bool[N]", field=("func",), needle=type_)
        inner = sized[1]
    form = "list" if write and of.cpp == "at::Tensor" else _LISTS.get(of.cpp, "list")
    name = of.names[0]
    return CArgument(
        types=(f"const {of.types[0]}*", "int64_t"),
        names=(name, f"{name}_len_"),
        cpp=f"c10::ArrayRef<{of.cpp}>",
        form=form,
        inner=inner,
    )
