"""The schema of the operator that is registered for a function."""

from __future__ import annotations

from pipeline.graphs.model import Bool, Constant, Float, Function, Input, Int, Many, Nothing, Str, Value
from pipeline.model.schema import returns_text


def schema_text(name: str, function: Function) -> str:
    """The schema of `function` as the operator `name`: `namespace::f(Tensor x, int n=2) -> (Tensor, Tensor)`."""
    positional = [_argument(each) for each in function.inputs if not each.keyword_only]
    named = [_argument(each) for each in function.inputs if each.keyword_only]
    arguments = [*positional, *(["*", *named] if named else [])]
    returns = [output.type for output in function.outputs]
    return f"{name}({', '.join(arguments)}) -> {returns_text(returns)}"


def _argument(input_: Input) -> str:
    default = f"={literal(input_.default)}" if input_.default is not None else ""
    return f"{input_.type} {input_.name}{default}"


def literal(value: Value) -> str:
    """A default in a schema."""
    if isinstance(value, Nothing):
        return "None"
    if isinstance(value, Many):
        return f"[{', '.join(map(literal, value.values))}]"
    if isinstance(value, Str):
        return f"'{value.value}'"
    if isinstance(value, (Int, Float, Bool)):
        return str(value.value)
    return value.name if isinstance(value, Constant) else "None"
