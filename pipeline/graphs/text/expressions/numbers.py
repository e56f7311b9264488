"""C++ expressions for computations of numbers, `python::…`."""

from __future__ import annotations

from pipeline.graphs.functional.program import Number
from pipeline.graphs.model import Many
from pipeline.graphs.text.expressions.literals import NUMBER_TYPES, Named, plain
from pipeline.graphs.text.expressions.values import number, tensor

_EXPRESSIONS = {
    "operand": "graph::operand({a})",
    "metadata": "{a}",
    "same_layout": "{a}.sizes() == {b}.sizes() && {a}.strides() == {b}.strides()",
    "same_memory": "{a}.is_alias_of({b})",
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "mul": "{a} * {b}",
    "truediv": "graph::truediv({a}, {b})",
    "floordiv": "graph::floordiv({type}({a}), {type}({b}))",
    "mod": "graph::mod({type}({a}), {type}({b}))",
    "pow": "graph::power({type}({a}), {type}({b}))",
    "min": "std::min<{type}>({a}, {b})",
    "max": "std::max<{type}>({a}, {b})",
    "neg": "-({a})",
    "abs": "std::abs({a})",
    "eq": "{a} == {b}",
    "ne": "{a} != {b}",
    "lt": "{a} < {b}",
    "le": "{a} <= {b}",
    "gt": "{a} > {b}",
    "ge": "{a} >= {b}",
    "int": "static_cast<int64_t>({a})",
    "float": "static_cast<double>({a})",
    "sqrt": "std::sqrt(static_cast<double>({a}))",
    "exp": "std::exp(static_cast<double>({a}))",
    "log": "std::log(static_cast<double>({a}))",
    "size": "{self}.size({dim})",
    "stride": "{self}.stride({dim})",
    "wrapped": "graph::wrapped({index}, {size})",
    "sizes": "{self}.sizes().vec()",
    "strides": "{self}.strides().vec()",
    "numel": "{self}.numel()",
    "dim": "{self}.dim()",
    "storage_offset": "{self}.storage_offset()",
    "dtype": "{self}.scalar_type()",
    "device": "{self}.device()",
    "truth": "{self}.item<bool>()",
    "length": "static_cast<int64_t>({list}.size())",
    "selects": "graph::selects({list})",
    "check_subscript": "graph::selects({list})",
    "gap": "graph::gap({self}, {list}, {alone})",
    "slice": "graph::slice({list}, {start}, {end})",
    "expect": "graph::expect({a}, {b}, {what})",
    "unpacked": "graph::check_unpacked({list}, {count})",
    "guard": "graph::guard({a}, {what})",
    "within": "graph::within({a}, {least}, {most}, {what})",
    "concat": "graph::concat({{{lists}}})",
}


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
    return _EXPRESSIONS[name].format(type=NUMBER_TYPES[step.result.type], **values)


def _ints(value: object, named: Named) -> str:
    if isinstance(value, Many):
        return f"std::vector<int64_t>{{{', '.join(number(v, named) for v in value.values)}}}"
    return number(value, named)  # type: ignore[arg-type]
