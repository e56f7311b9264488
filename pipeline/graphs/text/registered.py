"""Generates the registration of a graph as an operator."""

from __future__ import annotations

from pipeline.graphs.model import Bool, Float, Input, Int, Many, Nothing, Str, Value
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text.expressions.literals import quoted


def registration(plan: GraphPlan, stem: str) -> str:
    """The statement that registers a graph."""
    return f"m.def({quoted(schema(plan))}, gradmill::graphs::{stem}::{plan.name});"


def schema(plan: GraphPlan) -> str:
    """The schema of a graph, with annotations on the inputs that it writes to."""
    function, names = plan.functional.function, plan.functional.names
    written = {*plan.functional.written, *(name for name, _ in plan.functional.metadata)}
    letters = iter("abcdefghijklmnopqrstuvwxyz" * 4)
    arguments, keyword_only = [], False
    for input_ in function.inputs:
        if input_.keyword_only and not keyword_only:
            keyword_only = True
            arguments.append("*")
        type_ = input_.type
        if names[input_.name] in written:
            type_ = type_.replace("Tensor", f"Tensor({next(letters)}!)")
        arguments.append(f"{type_} {input_.name}{_default(input_)}")
    returns = ", ".join(output.type for output in function.outputs)
    return f"{function.name}({', '.join(arguments)}) -> {returns if len(function.outputs) == 1 else f'({returns})'}"


def _default(input_: Input) -> str:
    return "" if input_.default is None else f"={_literal(input_.default)}"


def _literal(value: Value) -> str:
    if isinstance(value, Nothing):
        return "None"
    if isinstance(value, Many):
        return f"[{', '.join(_literal(v) for v in value.values)}]"
    if isinstance(value, Str):
        return f"'{value.value}'"
    assert isinstance(value, (Bool, Int, Float))
    return repr(value.value)
