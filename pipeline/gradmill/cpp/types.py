"""The C++ types of schema types, as text: for an argument, an owned value, and a return.

The types are those of the public C++ API. Upstream's ambient flags are fields of `Passing`.

torchgen: `cpp.argumenttype_type`, `cpp.returntype_type`, `cpp.valuetype_type`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.grammar.types import element
from gradmill.problems.problem import SpecError
from gradmill.releases.elsewhere import dated

STRING_VIEW = "c10::string_view"
TENSOR = "at::Tensor"
TENSOR_LIST = "at::TensorList"
ITENSOR_LIST = "at::ITensorListRef"
TENSOR_OPTIONS = "at::TensorOptions"
TENSOR_VECTOR = "::std::vector<at::Tensor>"

# The C++ types of arguments that are lists of tensors, as passed.
TENSOR_LIST_LIKE = (TENSOR_LIST, "const c10::List<::std::optional<at::Tensor>> &", f"const {ITENSOR_LIST} &")


# Lists that are passed by reference -> lists that own their members.
OWNED_LISTS = {"at::IntArrayRef": "::std::vector<int64_t>", "c10::SymIntArrayRef": "::std::vector<c10::SymInt>"}
# Lists that are the same as passed and as a value, by what they are of.
_LISTS = {
    "int": "at::IntArrayRef",
    "SymInt": "c10::SymIntArrayRef",
    "Scalar": "at::ArrayRef<at::Scalar>",
    "Dimname": "at::DimnameList",
}


class CppType(Struct, frozen=True, gc=False):
    """A C++ type as passed (`const at::Tensor &`), and without const and reference (`at::Tensor`)."""

    passed: str
    value: str


class Passing(Struct, frozen=True, gc=False):
    """The settings that decide the C++ types of a function's arguments."""

    base_types: dict[str, str]  # schema type -> C++ type
    symint: bool = False  # whether SymInt is SymInt in C++; else it is int64_t
    const_ref_mutable: bool = False  # use_const_ref_for_mutable_tensors
    ilistref: bool = False  # whether lists of tensors are ITensorListRef, as in structured kernels


def optional(inner: str) -> str:
    """The C++ type of an optional value of type `inner`."""
    return f"::std::optional<{inner}>"


def argument_type(type_: str, how: Passing, *, mutable: bool) -> CppType:
    """The C++ type of an argument of schema type `type_`. `mutable`: whether the function writes to it.

    Raises a SpecError for a type without C++.
    """
    value = _value_type(type_, how)
    if value is not None:
        return CppType(value, value)
    inner = element(type_)
    if inner is None:
        name = how.base_types[type_]  # Tensor or Scalar: all others are values
        if type_ == "Tensor" and mutable and not how.const_ref_mutable:
            return CppType(f"{name} &", name)
        return CppType(f"const {name} &", name)
    if type_.endswith("?"):
        return _optional_argument(inner, how, mutable)
    return _list_argument(inner, how, mutable)


def _optional_argument(inner: str, how: Passing, mutable: bool) -> CppType:
    if inner == "Tensor" and mutable and not how.const_ref_mutable:
        return CppType(f"{TENSOR} &", TENSOR)
    if inner in ("Tensor", "Scalar"):
        value = optional(how.base_types[inner])
        return CppType(f"const {value} &", value)
    listed = element(inner) if inner.endswith("]") else None
    if listed in ("int", "SymInt"):
        name = f"at::Optional{'SymInt' if listed == 'SymInt' and how.symint else 'Int'}ArrayRef"
        return CppType(name, name)
    of = argument_type(inner, how, mutable=mutable)
    return CppType(optional(of.passed), optional(of.value))


def _list_argument(inner: str, how: Passing, mutable: bool) -> CppType:
    name = _LISTS.get("int" if inner == "SymInt" and not how.symint else inner)
    if name is not None:
        return CppType(name, name)
    if inner == "Tensor":
        return CppType(f"const {ITENSOR_LIST} &", ITENSOR_LIST) if how.ilistref else CppType(TENSOR_LIST, TENSOR_LIST)
    if inner == "Tensor?":
        value = f"c10::List<{optional(TENSOR)}>"
        return CppType(f"const {value} &", value)
    of = argument_type(inner, how, mutable=mutable)
    return CppType(f"at::ArrayRef<{of.passed}>", f"at::ArrayRef<{of.value}>")


def _value_type(type_: str, how: Passing) -> str | None:
    """The C++ type of a schema type if it is the same for arguments and returns, else None."""
    if type_.endswith("?"):
        inner = _value_type(type_[:-1], how)
        return None if inner is None else optional(inner)
    if type_.endswith("]"):
        listed, _, size = type_[:-1].rpartition("[")
        if listed != "bool":
            return None
        if not size:
            raise SpecError("a list of bool needs a size in C++", "write bool[N]", needle=type_)
        return f"::std::array<bool,{size}>"
    if type_ in ("Tensor", "Scalar"):
        return None
    if type_ == "SymInt" and not how.symint:
        return how.base_types["int"]
    name = how.base_types.get(type_)
    if not name:
        error = SpecError(f"type '{type_}' has no C++ equivalent, and generated code has to name it", needle=type_)
        raise dated(error, lambda other: bool(other.base_types.get(type_)))
    return name


def return_value_type(type_: str, base_types: dict[str, str], *, mutable: bool = False) -> str:
    """The C++ type of a return, without const and reference; SymInt is always SymInt in returns.

    Raises a SpecError for a type that cannot be returned.
    """
    value = _value_type(type_, Passing(base_types, symint=True))
    if value is not None:
        return value
    if type_ in ("Tensor", "Scalar"):
        return base_types[type_]
    inner = element(type_)
    assert inner is not None
    if type_.endswith("]"):
        if mutable:
            raise SpecError("a mutable tensor list cannot be returned", "let the op return ()", needle=type_)
        of = return_value_type(inner, base_types)
        if not type_.endswith("[]"):
            raise SpecError("a list of fixed size cannot be returned", f"return {inner}[]", needle=type_)
        return f"::std::vector<{of}>"
    of = return_value_type(inner, base_types, mutable=mutable)
    if inner == "Tensor":
        return optional(of)
    raise SpecError(f"'{type_}' is not a return type", needle=type_)
