"""C++ expressions for the values of a graph: arguments of calls, numbers, views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pipeline.cpp.dispatcher import Signature
from pipeline.graphs.functional.program import Link, Number
from pipeline.graphs.model import Bool, Constant, Float, Int, Item, Many, Nothing, Ref, Str, Value
from pipeline.graphs.scalars import SCALARS
from pipeline.graphs.text.expressions.literals import Named, constant, floating, plain, quoted, whole
from pipeline.graphs.traits import STRIDED


def number(value: Value, named: Named = plain) -> str:
    """A literal, or the expression for a number or tensor variable."""
    if isinstance(value, Bool):
        return "true" if value.value else "false"
    if isinstance(value, Int):
        return whole(value.value)
    if isinstance(value, Float):
        return floating(value.value)
    if isinstance(value, Str):
        return quoted(value.value)
    if isinstance(value, Constant):
        return constant(value)
    return tensor(value, named)


def tensor(value: Value, named: Named = plain) -> str:
    """A tensor, a list of tensors, an item of a list, or a number for a tensor; None is an undefined tensor."""
    if isinstance(value, Ref):
        return named(value.name)
    if isinstance(value, Item):
        return f"graph::item({named(value.name)}, {value.index})"
    if isinstance(value, Many):
        return f"std::vector<at::Tensor>{{{', '.join(tensor(v, named) for v in value.values)}}}"
    if isinstance(value, (Bool, Int, Float)):
        return f"graph::operand({number(value)})"
    return "at::Tensor()"


def argument(value: Value, passed: str, named: Named = plain) -> str:
    """A value as an argument of the C++ type `passed`."""
    type_ = passed.removeprefix("const ").removesuffix(" &").strip()
    if type_.startswith("::std::optional<"):
        inner = type_.removeprefix("::std::optional<").removesuffix(">")
        if isinstance(value, Nothing):
            return "::std::nullopt"
        if inner == "at::Tensor":
            return f"graph::maybe({tensor(value, named)})"
        return _optional(value, type_, inner, named)
    if type_ in _OPTIONAL_LISTS:
        return (
            "::std::nullopt" if isinstance(value, Nothing) else _optional(value, type_, _OPTIONAL_LISTS[type_], named)
        )
    list_type = _LISTS.get(type_)
    if list_type is not None:
        return _list(value, list_type, named)
    return _ARGUMENTS.get(type_, number)(value, named)


def _optional(value: Value, type_: str, inner: str, named: Named) -> str:
    """An argument of an optional type, for a value that is not None. An input may be optional itself."""
    if isinstance(value, (Ref, Item)):
        text = f"graph::optional<{inner}>({number(value, named)})"
        return text if type_.startswith("::std::optional<") else f"{type_}({text})"
    return f"{type_}({argument(value, inner, named)})"


_OPTIONAL_LISTS = {"at::OptionalIntArrayRef": "at::IntArrayRef", "at::OptionalSymIntArrayRef": "c10::SymIntArrayRef"}


def _symint(value: Value, named: Named) -> str:
    return f"c10::SymInt({number(value, named)})"


def _integer(value: Value, named: Named) -> str:
    text = number(value, named)
    return text if isinstance(value, Int) else f"int64_t({text})"


def _real(value: Value, named: Named) -> str:
    text = number(value, named)
    return f"graph::as<double>({text})" if isinstance(value, (Ref, Item)) else f"double({text})"


def _scalar(value: Value, named: Named) -> str:
    return f"at::Scalar({number(value, named)})"


def _any_tensor(value: Value, named: Named) -> str:
    return tensor(value, named)


def _optional_tensors(value: Value, named: Named) -> str:
    if not isinstance(value, Many):
        return f"graph::maybe_list({tensor(value, named)})"
    items = ("::std::nullopt" if isinstance(v, Nothing) else tensor(v, named) for v in value.values)
    return f"graph::indices({{{', '.join(items)}}})"


def _flags(value: Value, named: Named) -> str:
    assert isinstance(value, Many)
    return f"::std::array<bool,{len(value.values)}>{{{', '.join(number(v, named) for v in value.values)}}}"


_ARGUMENTS: dict[str, Callable[[Value, Named], str]] = {
    "at::Tensor": _any_tensor,
    "at::TensorList": _any_tensor,
    "at::ITensorListRef": _any_tensor,
    "at::Scalar": _scalar,
    "int64_t": _integer,
    "c10::SymInt": _symint,
    "double": _real,
    "c10::List<::std::optional<at::Tensor>>": _optional_tensors,
    **{f"::std::array<bool,{n}>": _flags for n in range(1, 9)},
}
# Lists of numbers: the conversion of a list variable, and the type and expression of an item.
_LISTS: dict[str, tuple[str, str, Callable[[Value, Named], str]]] = {
    "at::IntArrayRef": ("at::IntArrayRef", "int64_t", number),
    "c10::SymIntArrayRef": ("c10::fromIntArrayRefSlow", "c10::SymInt", _symint),
    "at::ArrayRef<double>": ("at::ArrayRef<double>", "double", _real),
    "at::ArrayRef<at::Scalar>": ("at::ArrayRef<at::Scalar>", "at::Scalar", _scalar),
}


def _list(value: Value, list_type: tuple[str, str, Callable[[Value, Named], str]], named: Named) -> str:
    constructor, item, text = list_type
    if isinstance(value, Many):
        items = ", ".join(text(v, named) for v in value.values)
        kind = f"at::ArrayRef<{item}>"
        return f"{kind}(std::vector<{item}>{{{items}}})" if value.values else f"{kind}()"
    if isinstance(value, Int):  # one number for all
        return f"at::ArrayRef<{item}>(std::vector<{item}>{{{text(value, named)}}})"
    return f"{constructor}({named(value.name)})" if isinstance(value, Ref) else number(value, named)


def call(signature: Signature, arguments: Mapping[str, Value], named: Named = plain) -> str:
    """A call of an operator by its struct in `at::_ops`, without C++ overload resolution."""
    values = [arguments.get(p.name, Nothing()) for p in signature.parameters]
    if signature.operator in STRIDED and all(isinstance(value, Ref) for value in values):
        return f"graph::strided({', '.join(number(value, named) for value in values)})"
    passed = [argument(value, p.type, named) for value, p in zip(values, signature.parameters)]
    return f"at::_ops::{signature.struct}::call({', '.join(passed)})"


def linked(
    base: str, chain: Sequence[Link], signatures: Mapping[str, Signature], named: Named, *, modes: bool = False
) -> str:
    """The expression for the view that a chain makes of `base`. `modes`: whether no_grad links run under no_grad."""
    for link in chain:
        if link.item is not None:
            base = f"graph::item({base}, {link.item})"
            continue
        if link.is_itself:
            continue
        arguments = link.all_arguments(Ref("\0"))

        def with_base(name: str, viewed: str = base) -> str:
            return viewed if name == "\0" else named(name)

        base = call(signatures[link.identity], arguments, with_base)
        base = f"graph::item({base}, {link.operand})" if link.listed else base
        if modes and not link.grad and not link.cut:
            base = f"graph::without_grad([&] {{ return {base}; }})"
    return base


_FROM_SCALAR = {"int": ".toLong()", "float": ".toDouble()", "bool": ".toBool()"}


def computed(step: Number, named: Named = plain) -> str:
    """The expression for the number that a step computes."""
    name = step.op.partition("::")[2]
    values = {}
    for argument, value in step.arguments.items():
        if isinstance(value, Many) and argument == "list":
            values[argument] = tensor(value, named)
        elif isinstance(value, Many) and argument == "lists":
            values[argument] = ", ".join(_ints(v, named) for v in value.values)
        else:
            values[argument] = _ints(value, named) if isinstance(value, Many) else number(value, named)
    return SCALARS[name].cpp.format(to=_FROM_SCALAR.get(step.result.type, ""), **values)


def _ints(value: object, named: Named) -> str:
    if isinstance(value, Many):
        return f"std::vector<int64_t>{{{', '.join(number(v, named) for v in value.values)}}}"
    return number(value, named)  # type: ignore[arg-type]
