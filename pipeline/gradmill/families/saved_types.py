"""How attributes are saved: one row per C++ type, for the Nodes that store them and the kernels that set them.

A row has the declaration of the attribute, the expression that copies a value into it, its release, unpacking and
check, its type as a parameter, and its Python getters. `{name}` is the attribute. The order of the parts is upstream's
(gen_autograd_functions).

torchgen: `gen_autograd_functions.save_var`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.types import ITENSOR_LIST, STRING_VIEW, TENSOR, TENSOR_LIST, TENSOR_VECTOR, optional
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release


class Getter(Struct, frozen=True, gc=False, array_like=True):
    """A Python getter: the sections of its frame and body, and whether it is the raw one."""

    frame: str
    body: str
    raw: bool = False
    tail: str = ""  # white space that follows it, where lines are not trimmed


class SavedType(Struct, frozen=True, gc=False, array_like=True):
    """The text that Nodes and kernels need for a saved attribute of one C++ type."""

    fields: tuple[str, ...]
    passed: str  # the reference type of the gradient function's parameter
    release: tuple[str, ...] = ()
    unpack: str = ""  # {pointer}: the Node that computed the value
    input_pointer: str = ""  # the {pointer} of an input, which this Node did not compute
    check: str = ""
    getters: tuple[Getter, ...] = ()
    is_variable: bool = False  # stored as a SavedVariable, or a vector of them
    copied: str = "{value}"  # the expression that kernels save; a copy, if the type owns no data


def _simple(cpp_type: str, *getters: Getter, initial: str = "", copied: str = "{value}") -> SavedType:
    """The row of a type that is stored by value."""
    return SavedType((f"{cpp_type} {{name}}{initial};",), f"{cpp_type}&", getters=getters, copied=copied)


_VECTOR = "{value}.vec()"
_VARIABLE = SavedType(
    ("SavedVariable {name}_;",),
    "Tensor&",
    release=("{name}_.reset_data();",),
    unpack="auto {name} = {name}_.unpack({pointer});",
    getters=(
        Getter("getter_of_variable", "body_variable"),
        Getter("raw_getter_of_variable", "body_raw_variable", True),
    ),
    is_variable=True,
)


def _variables(unpack: str, passed: str, input_pointer: str = "") -> SavedType:
    return SavedType(
        ("std::vector<SavedVariable> {name}_;", "bool {name}_released_ = false;"),
        passed,
        release=("{name}_.clear();", "{name}_released_ = true;"),
        unpack=unpack,
        input_pointer=input_pointer,
        check="TORCH_CHECK(!{name}_released_, ERR_BACKWARD_TWICE);",
        getters=(
            Getter("getter_of_variables", "body_variables"),
            Getter("raw_getter_of_variables", "body_raw_variables", True),
        ),
        is_variable=True,
    )


_TENSORS = _variables("auto {name} = unpack_list({name}_, {pointer});", "std::vector<Tensor>&", "nullptr")
_OPTIONAL_TENSORS = _variables("auto {name} = unpack_opt_list({name}_);", "torch::List<std::optional<Tensor>>&")
_SCALARS = SavedType(
    ("std::vector<at::Scalar> {name};", "bool {name}_released_ = false;"),
    "std::vector<at::Scalar>&",
    release=("{name}.clear();",),
    getters=(Getter("getter_of_scalars", "body_scalars", tail=" " * 28),),
    copied=_VECTOR,
)

_OPTIONAL_INTS = _simple("c10::OptionalArray<int64_t>", Getter("getter_of_optional_array", "body_ints"))
_OPTIONAL_SYMINTS = _simple("c10::OptionalArray<c10::SymInt>", Getter("getter_of_optional_array", "body_symints"))

SAVED_TYPES: dict[str, SavedType] = {
    TENSOR: _VARIABLE,
    optional(TENSOR): _VARIABLE,
    TENSOR_LIST: _TENSORS,
    ITENSOR_LIST: _TENSORS,
    TENSOR_VECTOR: _TENSORS,
    f"c10::List<{optional(TENSOR)}>": _OPTIONAL_TENSORS,
    "at::IntArrayRef": _simple("std::vector<int64_t>", Getter("getter", "body_ints"), copied=_VECTOR),
    "c10::SymIntArrayRef": _simple("std::vector<c10::SymInt>", Getter("getter", "body_symints"), copied=_VECTOR),
    "at::OptionalIntArrayRef": _OPTIONAL_INTS,
    optional("at::IntArrayRef"): _OPTIONAL_INTS,
    "at::OptionalSymIntArrayRef": _OPTIONAL_SYMINTS,
    optional("c10::SymIntArrayRef"): _OPTIONAL_SYMINTS,
    optional("at::ArrayRef<double>"): _simple(
        "c10::OptionalArray<double>", Getter("getter_of_optional_array", "body_doubles")
    ),
    "int64_t": _simple("int64_t", Getter("getter", "body_int"), initial=" = 0"),
    optional("int64_t"): _simple("::std::optional<int64_t>", Getter("getter_of_optional", "body_int")),
    "c10::SymInt": _simple("c10::SymInt", Getter("getter", "body_symint")),
    optional("c10::SymInt"): _simple("::std::optional<c10::SymInt>", Getter("getter_of_optional", "body_symint")),
    STRING_VIEW: _simple("std::string", Getter("getter", "body_string"), copied="std::string({value})"),
    "at::ArrayRef<at::Scalar>": _SCALARS,
    "double": _simple("double", Getter("getter", "body_double")),
    optional("double"): _simple("::std::optional<double>", Getter("getter_of_optional", "body_double")),
    "bool": _simple("bool", Getter("getter", "body_bool")),
    "at::Scalar": _simple("at::Scalar", Getter("getter", "body_scalar")),
    optional("at::Scalar"): _simple("::std::optional<at::Scalar>", Getter("getter_of_optional", "body_scalar")),
}


def saved_type(cpp_type: str, release: Release, *, is_output: bool, is_foreach: bool) -> SavedType:
    """The row for a C++ type. A type without a row is stored by value and has no getter.

    Raises SpecError for a type that cannot be saved.
    """
    if cpp_type == "at::Scalar" and is_output:
        return _VARIABLE
    if cpp_type == TENSOR_VECTOR and not (is_output and (is_foreach or release.described)):
        raise SpecError("a returned tensor list can be saved only by a foreach op", "recompute it in the formula")
    if cpp_type == optional(STRING_VIEW):
        return _simple(release.optional_string_type, Getter("getter_of_optional", "body_string"))
    row = SAVED_TYPES.get(cpp_type)
    if row is None:
        lowered = cpp_type.lower()
        if "ref" in lowered or "view" in lowered or "*" in cpp_type or "&" in cpp_type:
            raise SpecError(f"'{cpp_type}' does not own what it refers to and cannot be saved", "save a part of it")
        # Upstream cuts the parameter type out of the field's text, up to the first white space.
        row = SavedType((f"{cpp_type} {{name}};",), f"{cpp_type.split(' ', maxsplit=1)[0]}&")
    return row
