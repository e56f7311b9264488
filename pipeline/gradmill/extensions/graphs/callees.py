"""What calls of a graph call other than operators of the set, described as operators: composite, without derivatives.

So a graph records such a call at run time, and the library's autograd computes its gradients: from the formulas of a
branch, which is a graph of its own, and from the autograd of a custom operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradmill.extensions.graphs.model import Call, Cond, Function
from gradmill.extensions.graphs.operator import Operator
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.schema import Argument, OperatorName, Return, Schema, is_tensor_like
from gradmill.rules.native.dispatch import IMPLICIT

COND = "higher_order::cond"


def callee_operators(function: Function) -> dict[str, Operator]:
    """The callees of a function as operators, by identity."""
    return {call.function: _operator(function, call) for call in function.calls if call.function in function.callees}


def branches(function: Function) -> Iterator[Function]:
    """The branches of a function, and those of its branches."""
    for callee in function.callees.values():
        if isinstance(callee, Cond):
            for branch in (callee.then, callee.otherwise):
                yield branch
                yield from branches(branch)


def _operator(function: Function, call: Call) -> Operator:
    callee = function.callees[call.function]
    if isinstance(callee, Cond):
        types: tuple[str, ...] = ("bool", *(input_.type for input_ in callee.then.inputs))
    else:
        types = callee.types
    namespace, _, name = call.op.partition("::")
    base, _, overload = name.partition(".")
    arguments = (  # a plan only needs the types of tensors
        Argument(argument, type_ if is_tensor_like(type_) else "int") for argument, type_ in zip(call.arguments, types)
    )
    returns = tuple(Return(result.type) for result in call.results)
    schema = Schema(OperatorName(base, overload), tuple(arguments), returns=returns)
    return Operator(call.function, NativeFunction(schema, namespace, dispatch={IMPLICIT: Kernel("")}))
