"""Lowers the calls of branches of a cond and of custom operators, which the set does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gradmill.extensions.graphs.ir import Code, Do, Let, Return, Stmt, When, Within, code, separated, variable
from gradmill.extensions.graphs.model import Custom, Many, Nothing, Value
from gradmill.extensions.graphs.passes.functionalize.program import Apply
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.print.expressions import argument, number, quoted, tensor

_OPTIONAL_TENSORS = "const c10::List<::std::optional<at::Tensor>> &"
_NUMBERS = {"int": "int64_t", "float": "double", "bool": "bool", "str": "std::string"}


def body(plan: GraphPlan, step: Apply, inside: Mapping[str, Value], given: Code) -> list[Stmt]:
    """The statements that call a callee, and return its results as a list.

    `inside`: the arguments that have other values there. `given`: the expression for all of its tensors; a result that
    shares memory with one of them is copied, since a graph relies on new memory.
    """
    callee, arguments = plan.operators[step.identity].callee, {**step.arguments, **inside}
    if isinstance(callee, Custom):
        named = (
            code("{$, $}", quoted(name), _ivalue(value, type_))
            for (name, value), type_ in zip(arguments.items(), callee.types, strict=True)
        )
        call = code("graph::call_custom($, $, {$})", quoted(callee.name), quoted(callee.overload), separated(named))
        return [Return(code("graph::apart_from($, $)", given, call))]
    assert callee is not None
    condition, *operands = arguments.values()
    passed = separated(map(number, operands))
    then, otherwise = (
        Return(code("graph::apart_from($, graph::flat($($)))", given, branch.name, passed))
        for branch in (callee.then, callee.otherwise)
    )
    return [When(number(condition), (then,)), otherwise]


def called(step: Apply, name: str, begin: Code, body: Iterable[Stmt], end: str) -> list[Stmt]:
    """The statements that declare the results of a call of a lambda with a body, which returns all of them as a list.
    `begin`: the call up to the body."""
    count = str(step.results[0].length if step.results[0].type.endswith("]") else len(step.results))
    results = taken(name, [result.name for result in step.results])
    if step.results[0].type.endswith("]"):
        name, results = step.results[0].name, []
    call = Within(code("std::vector<at::Tensor> $ = $", variable(name), begin), tuple(body), end)
    return [call, Do(code("TORCH_CHECK($.size() == $, $)", variable(name), count, quoted(_COUNT))), *results]


def taken(name: str, values: Iterable[str]) -> list[Stmt]:
    """The statements that declare values with the items of the list `name`."""
    return [
        Let("at::Tensor", (value,), code("std::move($[$])", variable(name), str(i))) for i, value in enumerate(values)
    ]


_COUNT = "a call returned another number of tensors than at export"


def _ivalue(value: Value, type_: str) -> Code:
    """An argument of a custom operator, for the dispatcher's boxed call."""
    if isinstance(value, Nothing):
        return code("c10::IValue()")
    if type_ == "Tensor?[]":
        return code("c10::IValue($)", argument(value, _OPTIONAL_TENSORS))
    if type_.startswith("Tensor"):
        return code("c10::IValue($)", tensor(value))
    if isinstance(value, Many):
        item = _NUMBERS[type_.removesuffix("[]")]
        items = separated(code("$($)", item, number(each)) for each in value.values)
        list_ = code("c10::List<$>({$})", item, items) if value.values else code("c10::List<$>()", item)
        return code("c10::IValue($)", list_)
    if type_ in _NUMBERS:
        return code("c10::IValue($($))", _NUMBERS[type_], number(value))
    return code("c10::IValue($)", number(value))
