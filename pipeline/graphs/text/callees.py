"""Generates the calls of branches of a cond and of custom operators, which the set does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipeline.graphs.functional.program import Apply
from pipeline.graphs.model import Custom, Many, Nothing, Value
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text.expressions.literals import quoted
from pipeline.graphs.text.expressions.values import argument, number, tensor

_OPTIONAL_TENSORS = "const c10::List<::std::optional<at::Tensor>> &"
_NUMBERS = {"int": "int64_t", "float": "double", "bool": "bool", "str": "std::string"}


def body(plan: GraphPlan, step: Apply, inside: Mapping[str, Value], given: str) -> list[str]:
    """The statements that call a callee, and return its results as a list.

    `inside`: the arguments that have other values there. `given`: the expression for all of its tensors; a result that
    shares memory with one of them is copied, since a graph relies on new memory.
    """
    callee, arguments = plan.callees[step.identity], {**step.arguments, **inside}
    if isinstance(callee, Custom):
        named = (
            f"{{{quoted(name)}, {_ivalue(value, type_)}}}"
            for (name, value), type_ in zip(arguments.items(), callee.types, strict=True)
        )
        text = f"graph::call_custom({quoted(callee.name)}, {quoted(callee.overload)}, {{{', '.join(named)}}})"
        return [f"return graph::apart_from({given}, {text});"]
    condition, *operands = arguments.values()
    passed = ", ".join(number(each) for each in operands)
    then, otherwise = (
        f"return graph::apart_from({given}, graph::flat({branch.name}({passed})));"
        for branch in (callee.then, callee.otherwise)
    )
    return [f"if ({number(condition)}) {{", f"  {then}", "}", otherwise]


def called(step: Apply, name: str, call: str, lines: Iterable[str], after: str) -> list[str]:
    """The statements that declare the results of a call: `call` takes a lambda of `lines`, and returns all of them."""
    results = [f"at::Tensor {r.name} = std::move({name}[{i}]);" for i, r in enumerate(step.results)]
    count = f"TORCH_CHECK({name}.size() == {len(step.results)}, {quoted(_COUNT)});"
    if step.results[0].type.endswith("]"):
        name, length = step.results[0].name, step.results[0].length
        results = []
        count = f"TORCH_CHECK({name}.size() == {length}, {quoted(_COUNT)});"
    declared = f"std::vector<at::Tensor> {name} = {call} {{"
    return [declared, *(f"  {line}" for line in lines), f"}}{after};", count, *results]


_COUNT = "a call returned another number of tensors than at export"


def _ivalue(value: Value, type_: str) -> str:
    """An argument of a custom operator, for the dispatcher's boxed call."""
    if isinstance(value, Nothing):
        return "c10::IValue()"
    if type_ == "Tensor?[]":
        return f"c10::IValue({argument(value, _OPTIONAL_TENSORS)})"
    if type_.startswith("Tensor"):
        return f"c10::IValue({tensor(value)})"
    if isinstance(value, Many):
        item = _NUMBERS[type_.removesuffix("[]")]
        items = ", ".join(f"{item}({number(each)})" for each in value.values)
        list_ = f"c10::List<{item}>({{{items}}})" if value.values else f"c10::List<{item}>()"
        return f"c10::IValue({list_})"
    return f"c10::IValue({_NUMBERS[type_]}({number(value)}))" if type_ in _NUMBERS else f"c10::IValue({number(value)})"
