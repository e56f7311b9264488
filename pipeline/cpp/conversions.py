"""Which types of arguments C++ converts to which, by the types of schemas that they are the C++ of.

A type stands for all that a formula may have of it: `SymInt[]` for a vector and for a reference to one, `int` for a
variable and for a literal. What is not certain is taken to convert; "" is any type. tests/in_torch/test_conversions.py
asks the compiler.
"""

from __future__ import annotations

from pipeline.model.regex import regex

# Each type, and the others that it converts to.
CONVERSIONS: dict[str, frozenset[str]] = {
    given: frozenset((given, *taken.split()))
    for given, taken in (
        ("Tensor", "Tensor? Tensor[]"),
        ("Tensor?", ""),
        ("Tensor[]", ""),
        ("Tensor?[]", ""),
        ("int", "float bool SymInt int[] int[]? Scalar Scalar? int? SymInt? float? bool? float[] float[]? str"),
        ("float", "int bool SymInt int[] int[]? Scalar Scalar? int? SymInt? float? bool? float[] float[]?"),
        ("bool", "int float SymInt int[] int[]? Scalar Scalar? int? SymInt? float? bool? float[] float[]?"),
        ("SymInt", "SymInt[] SymInt[]? Scalar Scalar? SymInt?"),
        ("SymInt[]", "SymInt[]?"),
        ("int[]", "int[]?"),
        ("SymInt[]?", ""),
        ("int[]?", ""),
        ("Scalar", "Scalar? Scalar[]"),
        ("Scalar?", ""),
        ("Scalar[]", ""),
        ("int?", "int[]? Scalar? SymInt? float? float[]?"),
        ("SymInt?", "SymInt[]? Scalar?"),
        ("float?", "int[]? Scalar? int? SymInt? float[]?"),
        ("bool?", "int[]? Scalar? int? SymInt? float? float[]?"),
        ("float[]", "float[]?"),
        ("float[]?", ""),
        ("str", "bool bool? str? TensorOptions Device Device?"),
        ("str?", "Device?"),
        ("ScalarType", "ScalarType? TensorOptions"),
        ("ScalarType?", ""),
        ("TensorOptions", ""),
        ("Layout", "TensorOptions Layout?"),
        ("Layout?", ""),
        ("Device", "TensorOptions Device?"),
        ("Device?", ""),
        ("MemoryFormat", "TensorOptions MemoryFormat?"),
        ("MemoryFormat?", ""),
        ("Generator", "Generator?"),
        ("Generator?", ""),
        ("Storage", "int float bool int? float? bool?"),
        ("bool[]", ""),
    )
}

_SIZED = regex(r"\[\d+\]")
_QUALIFIED = regex(r"\bconst\b|\b(?:::)?(?:at|c10|std|torch|autograd)::|::(?=std\b)|[&\s]")
_OF_CPP = {
    "Tensor": "Tensor",
    "Variable": "Tensor",
    "optional<Tensor>": "Tensor?",
    "TensorList": "Tensor[]",
    "ITensorListRef": "Tensor[]",
    "ArrayRef<Tensor>": "Tensor[]",
    "vector<Tensor>": "Tensor[]",
    "variable_list": "Tensor[]",
    "List<optional<Tensor>>": "Tensor?[]",
    "int64_t": "int",
    "int": "int",
    "double": "float",
    "bool": "bool",
    "SymInt": "SymInt",
    "SymIntArrayRef": "SymInt[]",
    "ArrayRef<SymInt>": "SymInt[]",
    "vector<SymInt>": "SymInt[]",
    "IntArrayRef": "int[]",
    "ArrayRef<int64_t>": "int[]",
    "vector<int64_t>": "int[]",
    "OptionalSymIntArrayRef": "SymInt[]?",
    "OptionalArrayRef<SymInt>": "SymInt[]?",
    "OptionalIntArrayRef": "int[]?",
    "OptionalArrayRef<int64_t>": "int[]?",
    "Scalar": "Scalar",
    "optional<Scalar>": "Scalar?",
    "ArrayRef<Scalar>": "Scalar[]",
    "optional<int64_t>": "int?",
    "optional<SymInt>": "SymInt?",
    "optional<double>": "float?",
    "optional<bool>": "bool?",
    "string": "str",
    "string_view": "str",
    "char*": "str",
    "optional<string_view>": "str?",
    "optional<string>": "str?",
    "ScalarType": "ScalarType",
    "optional<ScalarType>": "ScalarType?",
    "TensorOptions": "TensorOptions",
    "Layout": "Layout",
    "optional<Layout>": "Layout?",
    "Device": "Device",
    "MemoryFormat": "MemoryFormat",
    "optional<MemoryFormat>": "MemoryFormat?",
    "optional<Generator>": "Generator?",
}


def accepts(given: str, taken: str) -> bool:
    """Whether a parameter of the type `taken` may take an argument of the type `given`; "" may be any type."""
    if given == taken or not given or not taken:
        return True
    return taken in CONVERSIONS[given]


def of_schema(type_: str, *, symint: bool = True) -> str:
    """What stands for a schema type. `symint`: whether SymInt is one in C++, too, and no int64_t."""
    if "[" in type_:
        type_ = _SIZED.sub("[]", type_)
    if not symint and type_.startswith("SymInt"):
        type_ = "int" + type_[6:]
    return type_ if type_ in CONVERSIONS else ""


def of_cpp(type_: str) -> str:
    """What stands for a C++ type as a header has it."""
    return _OF_CPP.get(_QUALIFIED.sub("", type_), "")
