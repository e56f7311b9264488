"""Schema types as the parser of Python arguments names and reads them.

torchgen: `python.argument_type_str`, `python.arg_parser_unpack_method`.
"""

from __future__ import annotations

from gradmill.grammar.types import element
from gradmill.problems.problem import SpecError

# Schema type -> its name in a signature. The other types of the table have the same name in both.
_NAMES = {"int": "int64_t", "float": "double", "str": "c10::string_view"}
_SAME = frozenset(
    """
    Tensor bool QScheme Scalar ScalarType Generator Storage Layout Device DeviceIndex MemoryFormat Dimname Stream SymInt
    ConstQuantizerPtr
    """.split()
)
# Types of elements -> the name of a list of them.
_LISTS = {
    "int": "IntArrayRef",
    "SymInt": "SymIntArrayRef",
    "Tensor": "TensorList",
    "Scalar": "ScalarList",
    "Dimname": "DimnameList",
}
_OPTIONAL_TENSORS = "c10::List<::std::optional<Tensor>>"  # always without a size

# Schema type -> the parser's method that reads an argument; for lists, by the type of the elements.
_READERS = {
    "Tensor": "tensor",
    "Stream": "stream",
    "Storage": "storage",
    "Scalar": "scalar",
    "Dimname": "dimname",
    "ScalarType": "scalartype",
    "Device": "device",
    "DeviceIndex": "toInt64",
    "int": "toInt64",
    "SymInt": "toSymInt",
    "bool": "toBool",
    "float": "toDouble",
    "str": "stringView",
    "Layout": "layout",
    "MemoryFormat": "memoryformat",
}
_LIST_READERS = {
    "Tensor?": "list_of_optional_tensors",
    "Dimname": "dimnamelist",
    "int": "intlist",
    "float": "doublelist",
    "SymInt": "symintlist",
    "Scalar": "scalarlist",
}
_OPTIONAL_READERS = {"Tensor": "optionalTensor", "Generator": "generator", "Dimname[]": "toDimnameListOptional"}
_WITH_DEFAULT = frozenset(("ScalarType", "Device", "Layout", "bool"))  # can be read with a computed default


def parser_type(type_: str) -> str:
    """The name of a schema type in the signature that the parser reads. SpecError if the parser has none."""
    inner = element(type_)
    if inner is None:
        if type_ in _NAMES or type_ in _SAME:
            return _NAMES.get(type_, type_)
        raise SpecError(f"the parser of Python arguments has no type '{type_}'", needle=type_)
    if type_.endswith("?"):
        return f"{parser_type(inner)}?"
    size = type_[len(inner) + 1 : -1]
    if inner == "bool":
        if not size:
            raise SpecError("a list of bool needs a size", "write bool[N]", needle=type_)
        return f"::std::array<bool,{size}>"
    if inner == "Tensor?":
        return _OPTIONAL_TENSORS
    if inner in _LISTS:
        return f"{_LISTS[inner]}[{size}]" if size else _LISTS[inner]
    return f"ArrayRef<{parser_type(inner)}>"


def reader(type_: str, *, none: bool, computed: bool) -> str:
    """The parser's method that reads an argument. `none`: whether it is None by default, or has no default; `computed`:
    whether the call brings a default that C++ computes. SpecError if the parser has no such method."""
    inner = element(type_)
    method = None
    if inner is None:
        method = _READERS.get(type_)
        if method is not None and computed and type_ in _WITH_DEFAULT:
            method += "WithDefault"
    elif type_.endswith("?"):
        if inner in _OPTIONAL_READERS:
            return _OPTIONAL_READERS[inner]
        if none and not computed:
            return f"{reader(inner, none=True, computed=False)}Optional"
        return reader(inner, none=none, computed=computed)
    elif inner == "Tensor":
        size = type_[len("Tensor[") : -1]
        return f"tensorlist_n<{size}>" if size else "tensorlist"
    else:
        method = _LIST_READERS.get(inner)
    if method is None:
        raise SpecError(f"the parser of Python arguments cannot read type '{type_}'", needle=type_)
    return method
