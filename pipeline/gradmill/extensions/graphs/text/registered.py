"""Generates the registration of a graph as an operator."""

from __future__ import annotations

from gradmill.extensions.graphs.arguments import arguments, schema_text
from gradmill.extensions.graphs.functional.names import namespace_of
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.text import guards
from gradmill.extensions.graphs.text.expressions.literals import quoted


def registration(plan: GraphPlan, stem: str) -> str:
    """The statement that registers a graph."""
    function = f"gradmill::graphs::{namespace_of(stem)}::{plan.name}"
    own, names = plan.functional.function, plan.functional.names
    packed, changed = arguments(own), {*plan.functional.written, *(name for name, _ in plan.functional.metadata)}
    schema = quoted(schema_text(own.name, own, packed, {name for name, called in names.items() if called in changed}))
    if not any(argument.role for argument in packed):
        return f"m.def({schema}, {function});"
    parameters, checks = [], []
    passed: dict[str, str] = {}
    for argument in packed:
        if argument.role:
            parameters.append(f"at::TensorList {argument.role}")
            checks.append(
                f"gradmill::graph::check_count({quoted(own.name)}, "
                f"{quoted(argument.role)}, {argument.role}, {len(argument.inputs)});"
            )
            passed |= {input_.name: f"{argument.role}[{i}]" for i, input_ in enumerate(argument.inputs)}
        else:
            (input_,) = argument.inputs
            name = names[input_.name]
            parameters.append(f"{guards.passed_type(input_.type)} {name}")
            passed[input_.name] = name
    call = f"{function}({', '.join(passed[input_.name] for input_ in own.inputs)})"
    body = " ".join([*checks, f"return {call};"])
    return f"m.def({schema}, []({', '.join(parameters)}) {{ {body} }});"
