"""Generates the registration of a graph as an operator."""

from __future__ import annotations

from itertools import count

from pipeline.graphs.arguments import arguments
from pipeline.graphs.functional.names import namespace_of
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.schema import literal
from pipeline.graphs.text import guards
from pipeline.graphs.text.expressions.literals import quoted


def registration(plan: GraphPlan, stem: str) -> str:
    """The statement that registers a graph."""
    function = f"gradmill::graphs::{namespace_of(stem)}::{plan.name}"
    packed = arguments(plan.functional.function)
    if not any(argument.role for argument in packed):
        return f"m.def({quoted(schema(plan))}, {function});"
    parameters, checks = [], []
    passed: dict[str, str] = {}
    for argument in packed:
        if argument.role:
            parameters.append(f"at::TensorList {argument.role}")
            checks.append(
                f"gradmill::graph::check_count({quoted(plan.functional.function.name)}, "
                f"{quoted(argument.role)}, {argument.role}, {len(argument.inputs)});"
            )
            passed |= {input_.name: f"{argument.role}[{i}]" for i, input_ in enumerate(argument.inputs)}
        else:
            (input_,) = argument.inputs
            name = plan.functional.names[input_.name]
            parameters.append(f"{guards.passed_type(input_.type)} {name}")
            passed[input_.name] = name
    call = f"{function}({', '.join(passed[input_.name] for input_ in plan.functional.function.inputs)})"
    body = " ".join([*checks, f"return {call};"])
    return f"m.def({quoted(schema(plan))}, []({', '.join(parameters)}) {{ {body} }});"


def schema(plan: GraphPlan) -> str:
    """The schema of a graph, with annotations on the inputs that it writes to."""
    function, names = plan.functional.function, plan.functional.names
    written = {*plan.functional.written, *(name for name, _ in plan.functional.metadata)}
    sets = (f"a{number}" for number in count())  # alias sets: each written argument is in its own
    texts, keyword_only = [], False
    for argument in arguments(function):
        first = argument.inputs[0]
        if first.keyword_only and not keyword_only:
            keyword_only = True
            texts.append("*")
        type_ = f"{first.type}[]" if argument.role else first.type
        if any(names[input_.name] in written for input_ in argument.inputs):
            type_ = type_.replace("Tensor", f"Tensor({next(sets)}!)")
        default = "" if argument.role or first.default is None else f"={literal(first.default)}"
        texts.append(f"{type_} {argument.role or first.name}{default}")
    returns = ", ".join(output.type for output in function.outputs)
    return f"{function.name}({', '.join(texts)}) -> {returns if len(function.outputs) == 1 else f'({returns})'}"
