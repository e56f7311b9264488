"""C++ expressions for the values of a graph: arguments of calls, numbers, views."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from gradmill.cpp.dispatcher import Signature
from gradmill.extensions.graphs.ir import Code, code, filled, separated, variable
from gradmill.extensions.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Str, Value
from gradmill.extensions.graphs.passes.functionalize.program import Flags, Link, Number
from gradmill.extensions.graphs.plan import OperatorPlan
from gradmill.extensions.graphs.scalars import SCALARS
from gradmill.extensions.graphs.traits import STRIDED

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
    "Tensor[]": "std::vector<at::Tensor>",
    "gap": "graph::Gap",
}
# The C++ types of variables and of outputs: numbers, strings, tensors, lists of these; also optional ones.
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


Named = Callable[[Ref | Item], Code]  # the expression for a value
NONE = code("::std::nullopt")


def by_name(expression: Callable[[str], Code]) -> Named:
    """The expressions for values, by those for names; an item is one of the list that has the name."""

    def named(value: Ref | Item) -> Code:
        named = expression(value.name)
        return code("graph::item($, $)", named, str(value.index)) if isinstance(value, Item) else named

    return named


local = by_name(variable)


def number(value: Value, named: Named = local) -> Code:
    """A literal, or the expression for a number or tensor variable."""
    return code("$", literal(value)) if isinstance(value, Bool | Int | Float | Str | Constant) else tensor(value, named)


def literal(value: Bool | Int | Float | Str | Constant) -> str:
    """A number, string or constant of the source."""
    if isinstance(value, Bool):
        return "true" if value.value else "false"
    if isinstance(value, Int):
        return whole(value.value)
    if isinstance(value, Float):
        return floating(value.value)
    return quoted(value.value) if isinstance(value, Str) else constant(value)


def tensor(value: Value, named: Named = local) -> Code:
    """A tensor, a list of tensors, an item of a list, or a number for a tensor; None is an undefined tensor."""
    if isinstance(value, (Ref, Item)):
        return named(value)
    if isinstance(value, Many):
        return code("std::vector<at::Tensor>{$}", separated(tensor(v, named) for v in value.values))
    if isinstance(value, (Bool, Int, Float)):
        return code("graph::operand($)", literal(value))
    return code("at::Tensor()")


def all_of(flags: Flags, named: Named = local) -> Code:
    """The expression for whether flags are all true."""
    return separated(map(named, flags), " && ")


def argument(value: Value, passed: str, named: Named = local) -> Code:
    """A value as an argument of the C++ type `passed`."""
    type_ = passed.removeprefix("const ").removesuffix(" &").strip()
    if type_.startswith("::std::optional<"):
        inner = type_.removeprefix("::std::optional<").removesuffix(">")
        if isinstance(value, Nothing):
            return NONE
        if inner == "at::Tensor":
            return code("graph::maybe($)", tensor(value, named))
        return _optional(value, type_, inner, named)
    if type_ in _OPTIONAL_LISTS:
        return NONE if isinstance(value, Nothing) else _optional(value, type_, _OPTIONAL_LISTS[type_], named)
    list_type = _LISTS.get(type_)
    if list_type is not None:
        return _list(value, list_type, named)
    return _ARGUMENTS.get(type_, number)(value, named)


def _optional(value: Value, type_: str, inner: str, named: Named) -> Code:
    """An argument of an optional type, for a value that is not None. An input may be optional itself."""
    if isinstance(value, (Ref, Item)):
        text = code("graph::optional<$>($)", inner, number(value, named))
        return text if type_.startswith("::std::optional<") else code("$($)", type_, text)
    return code("$($)", type_, argument(value, inner, named))


_OPTIONAL_LISTS = {"at::OptionalIntArrayRef": "at::IntArrayRef", "at::OptionalSymIntArrayRef": "c10::SymIntArrayRef"}


def _symint(value: Value, named: Named) -> Code:
    return code("c10::SymInt($)", number(value, named))


def _integer(value: Value, named: Named) -> Code:
    text = number(value, named)
    return text if isinstance(value, Int) else code("int64_t($)", text)


def _real(value: Value, named: Named) -> Code:
    form = "graph::as<double>($)" if isinstance(value, (Ref, Item)) else "double($)"
    return code(form, number(value, named))


def _scalar(value: Value, named: Named) -> Code:
    return code("at::Scalar($)", number(value, named))


def _optional_tensors(value: Value, named: Named) -> Code:
    assert isinstance(value, Many)
    items = (NONE if isinstance(v, Nothing) else tensor(v, named) for v in value.values)
    return code("graph::indices({$})", separated(items))


def _flags(value: Value, named: Named) -> Code:
    assert isinstance(value, Many)
    return code("::std::array<bool,$>{$}", str(len(value.values)), separated(number(v, named) for v in value.values))


_ARGUMENTS: dict[str, Callable[[Value, Named], Code]] = {
    "at::Tensor": tensor,
    "at::TensorList": tensor,
    "at::ITensorListRef": tensor,
    "at::Scalar": _scalar,
    "int64_t": _integer,
    "c10::SymInt": _symint,
    "double": _real,
    "c10::List<::std::optional<at::Tensor>>": _optional_tensors,
    **{f"::std::array<bool,{n}>": _flags for n in range(1, 9)},
}
# Lists of numbers: the conversion of a list variable, and the type and expression of an item.
_LISTS: dict[str, tuple[str, str, Callable[[Value, Named], Code]]] = {
    "at::IntArrayRef": ("at::IntArrayRef", "int64_t", number),
    "c10::SymIntArrayRef": ("c10::fromIntArrayRefSlow", "c10::SymInt", _symint),
    "at::ArrayRef<double>": ("at::ArrayRef<double>", "double", _real),
    "at::ArrayRef<at::Scalar>": ("at::ArrayRef<at::Scalar>", "at::Scalar", _scalar),
}


def _list(value: Value, list_type: tuple[str, str, Callable[[Value, Named], Code]], named: Named) -> Code:
    constructor, item, text = list_type
    if isinstance(value, Ref):
        return code("$($)", constructor, named(value))
    assert isinstance(value, Many)
    if not value.values:
        return code("at::ArrayRef<$>()", item)
    return code("at::ArrayRef<$>(std::vector<$>{$})", item, item, separated(text(v, named) for v in value.values))


def call(
    signature: Signature, arguments: Mapping[str, Value], named: Named = local, function: str | None = None
) -> Code:
    """A call of an operator by its struct in `at::_ops`, without C++ overload resolution. `function`: of `graph.h`, to
    call in its place."""
    values = [arguments.get(p.name, Nothing()) for p in signature.parameters]
    if signature.operator in STRIDED and all(isinstance(value, Ref) for value in values):
        return code("graph::strided($)", separated(number(value, named) for value in values))
    passed = separated(argument(value, p.type, named) for value, p in zip(values, signature.parameters))
    return code("$($)", f"graph::{function}" if function else f"at::_ops::{signature.struct}::call", passed)


def linked(
    base: Code, chain: Sequence[Link], operators: Mapping[str, OperatorPlan], named: Named, *, modes: bool = False
) -> Code:
    """The expression for the view that a chain makes of `base`. `modes`: whether no_grad links run under no_grad."""
    for link in chain:
        if link.item is not None:
            base = code("graph::item($, $)", base, str(link.item))
            continue
        if link.is_itself:
            continue
        base = call(operators[link.identity].called, link.all_arguments(GIVEN), with_given(base, named))
        base = code("graph::item($, $)", base, str(link.operand)) if link.listed else base
        if modes and not link.grad and not link.cut:
            base = without_grad(base)
    return base


GIVEN = Ref("\0")  # an argument that is an expression


def with_given(given: Code, named: Named = local) -> Named:
    """The expressions for values, with that for GIVEN."""
    return lambda value: given if value == GIVEN else named(value)


def without_grad(text: Code) -> Code:
    """A call that autograd does not record."""
    return code("graph::without_grad([&] { return $; })", text)


def lambda_of(body: Code) -> Code:
    """The C++ lambda that returns the expression `body` of its parameter `base`."""
    return code("[&](const at::Tensor& base) { return $; }", body)


_FROM_SCALAR = {"int": ".toLong()", "float": ".toDouble()", "bool": ".toBool()"}


def computed(step: Number, named: Named = local) -> Code:
    """The expression for the number that a step computes."""
    values: dict[str, Code | str] = {"to": _FROM_SCALAR.get(step.result.type, "")}
    for argument, value in step.arguments.items():
        if isinstance(value, Many) and argument == "list":
            values[argument] = tensor(value, named)
        elif isinstance(value, Many) and argument == "lists":
            values[argument] = separated(_ints(v, named) for v in value.values)
        else:
            values[argument] = _ints(value, named)
    return filled(SCALARS[step.op.partition("::")[2]].cpp, values)


def _ints(value: Value, named: Named) -> Code:
    if isinstance(value, Many):
        return code("std::vector<int64_t>{$}", separated(number(v, named) for v in value.values))
    return number(value, named)
