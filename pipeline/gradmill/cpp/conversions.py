"""Implicit conversions between the C++ types of arguments, each represented by its schema type.

A type represents all its C++ forms in a formula: `SymInt[]` a vector and a reference to one, `int` a variable and a
literal; `bool[3]` is an array of that size. A tuple is its members in brackets, `(Tensor, Tensor[])`, and converts to
nothing. An uncertain conversion counts as possible; "" is any type. tests/rules/test_formulas_in_cpp.py verifies the
table with a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.model.regex import regex

_OF_NUMBERS = "SymInt int[] int[]? Scalar Scalar? int? SymInt? float? bool? float[] float[]?"
# Each type, the types that it converts to, and how C++ writes it.
_TYPES = (
    ("Tensor", "Tensor? Tensor[]", "Tensor Variable"),
    ("Tensor?", "", "optional<Tensor>"),
    ("Tensor[]", "", "TensorList ITensorListRef ArrayRef<Tensor> vector<Tensor> variable_list"),
    ("Tensor?[]", "", "List<optional<Tensor>>"),
    ("int", f"float bool {_OF_NUMBERS} str", "int64_t int"),
    ("float", f"int bool {_OF_NUMBERS}", "double"),
    ("bool", f"int float {_OF_NUMBERS}", "bool"),
    ("SymInt", "SymInt[] SymInt[]? Scalar Scalar? SymInt?", "SymInt"),
    ("SymInt[]", "SymInt[]?", "SymIntArrayRef ArrayRef<SymInt> vector<SymInt>"),
    ("int[]", "int[]?", "IntArrayRef ArrayRef<int64_t> vector<int64_t>"),
    ("SymInt[]?", "", "OptionalSymIntArrayRef OptionalArrayRef<SymInt>"),
    ("int[]?", "", "OptionalIntArrayRef OptionalArrayRef<int64_t>"),
    ("Scalar", "Scalar? Scalar[]", "Scalar"),
    ("Scalar?", "", "optional<Scalar>"),
    ("Scalar[]", "", "ArrayRef<Scalar>"),
    ("int?", "int[]? Scalar? SymInt? float? float[]?", "optional<int64_t>"),
    ("SymInt?", "SymInt[]? Scalar?", "optional<SymInt>"),
    ("float?", "int[]? Scalar? int? SymInt? float[]?", "optional<double>"),
    ("bool?", "int[]? Scalar? int? SymInt? float? float[]?", "optional<bool>"),
    ("float[]", "float[]?", ""),
    ("float[]?", "", ""),
    ("str", "bool bool? str? TensorOptions Device Device?", "string string_view char*"),
    ("str?", "Device?", "optional<string_view> optional<string>"),
    ("ScalarType", "ScalarType? TensorOptions", "ScalarType"),
    ("ScalarType?", "", "optional<ScalarType>"),
    ("TensorOptions", "", "TensorOptions"),
    ("Layout", "TensorOptions Layout?", "Layout"),
    ("Layout?", "", "optional<Layout>"),
    ("Device", "TensorOptions Device?", "Device"),
    ("Device?", "", ""),
    ("MemoryFormat", "TensorOptions MemoryFormat?", "MemoryFormat"),
    ("MemoryFormat?", "", "optional<MemoryFormat>"),
    ("Generator", "Generator?", ""),
    ("Generator?", "", "optional<Generator>"),
    ("Storage", "int float bool int? float? bool?", ""),
    ("bool[2]", "", ""),
    ("bool[3]", "", ""),
    ("bool[4]", "", ""),
)
CONVERSIONS = {source: frozenset((source, *targets.split())) for source, targets, _ in _TYPES}
_OF_CPP = {cpp: type_ for type_, _, written in _TYPES for cpp in written.split()}

_SIZED = regex(r"\[\d+\]")
_ARRAY = regex(r"array<bool,(\d+)>|bool\[(\d+)\]")  # in C++ and in a schema
_NESTED = regex(r"<[^<>]*,")  # a template of several types
_QUALIFIED = regex(r"\bconst\b|\b(?:::)?(?:at|c10|std|torch|autograd)::|::(?=std\b)|[&\s]")


def accepts(argument: str, parameter: str) -> bool:
    """Whether a parameter of the type `parameter` may accept an argument of the type `argument`; "" is any type."""
    if argument == parameter or not argument or not parameter:
        return True
    return parameter in CONVERSIONS.get(argument, ())


def tuple_of(types: Sequence[str]) -> str:
    """The type of a tuple of values of these types, "" of an unknown one."""
    return f"({', '.join(types)})"


def members(type_: str) -> list[str] | None:
    """The types in a tuple; None if the type is not a tuple."""
    return type_[1:-1].split(", ") if type_.startswith("(") else None


def of_schema(type_: str, *, symint: bool = True) -> str:
    """The type in CONVERSIONS for a schema type, "" if unknown. If not `symint`, SymInt is int64_t in C++."""
    if "[" in type_ and array_size(type_) is None:
        type_ = _SIZED.sub("[]", type_)
    if not symint and type_.startswith("SymInt"):
        type_ = "int" + type_[6:]
    return type_ if type_ in CONVERSIONS or array_size(type_) is not None else ""


def array_size(type_: str) -> int | None:
    """The number of elements of an array: 3 of `bool[3]`; None if the type is not an array."""
    match = _ARRAY.fullmatch(type_)
    return int(match[1] or match[2]) if match is not None else None


def of_cpp(type_: str) -> str:
    """The type in CONVERSIONS for a C++ type in a header, or that of a tuple; "" if unknown."""
    plain = _QUALIFIED.sub("", type_)
    size = array_size(plain)
    if size is not None:
        return f"bool[{size}]"
    kind, bracket, listed = plain.removesuffix(">").partition("<")
    if kind in ("tuple", "pair") and bracket and not _NESTED.search(listed):
        return tuple_of([_OF_CPP.get(each, "") for each in listed.split(",")])
    return _OF_CPP.get(plain, "")


def of_returns(types: Sequence[str]) -> str:
    """The type of what a function returns, by the schema types of its returns; "" if unknown."""
    known = [of_schema(each) for each in types]
    return known[0] if len(known) == 1 else tuple_of(known) if known else ""
