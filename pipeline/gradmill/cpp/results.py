"""What a kernel returns of the results of another function that it called.

torchgen: `native_function_generation.return_str`, `model.FunctionSchema.aliased_return_names`,
`gen_functionalization_type.get_mutable_redispatch_return_names`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.cpp.bindings import return_types
from gradmill.cpp.dispatcher import returns_type, together
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release


def each_result(called: Schema, variable: str, count: int) -> list[str]:
    """The expressions for the first results of a call."""
    return [variable if len(called.returns) == 1 else f"std::get<{i}>({variable})" for i in range(count)]


def aliased_arguments(schema: Schema) -> list[str | None]:
    """The argument that each return of a schema aliases, if any. SpecError for one that may be any of several."""
    found: list[str | None] = []
    for r in schema.returns:
        names = [a.name for a in schema.arguments if a.annotation is not None and a.annotation == r.annotation]
        if len(names) > 1:
            problem = f"a return aliases several arguments: {', '.join(names)}"
            raise SpecError(problem, "give each its own letter", field=("func",))
        found.append(names[0] if names else None)
    return found


def fresh_results(schema: Schema, variable: str) -> list[str]:
    """The results of a call that alias no argument. SpecError as `aliased_arguments`."""
    results = each_result(schema, variable, len(schema.returns))
    return [result for result, alias in zip(results, aliased_arguments(schema)) if alias is None]


def return_statement(function: NativeFunction, values: Sequence[str], release: Release) -> str:
    """The statement that returns values; "" for none. SpecError if the function returns another number."""
    count = len(function.func.returns)
    if len(values) != count:
        problem = f"'{function.func.name}' returns {count} values, and {len(values)} are made"
        raise SpecError(problem, "return what is written to, in the order of the arguments", field=("func",))
    if count < 2:
        return f"return {values[0]};" if values else ""
    return f"return {returns_type(function, release)}({', '.join(values)});"


def result_type(schema: Schema, release: Release) -> str:
    """The C++ type of a variable that holds all results."""
    return together(return_types(schema, release))
