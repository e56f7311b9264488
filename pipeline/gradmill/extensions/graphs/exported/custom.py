"""Reads calls of operators that the set does not have: a library registers them, with their own autograd.

The file has the arguments by name, and no schema. So the generated code looks up the schema when it calls the operator.
"""

from __future__ import annotations

from gradmill.extensions.graphs.exported.format import Argument, Node
from gradmill.extensions.graphs.exported.results import name_of
from gradmill.extensions.graphs.exported.values import operand_of
from gradmill.extensions.graphs.model import Custom, Many, Value
from gradmill.extensions.graphs.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.resolve.operands import Operand, Several, TypedValue
from gradmill.problems.problem import SpecError

_PLAIN = ("Tensor", "int", "float", "bool", "str", "None", "ScalarType", "MemoryFormat", "Layout", "Device")


def add_custom(builder: GraphBuilder, node: Node, name: str, overload: str, scope: dict[str, Operand]) -> Operand:
    """Adds a call of the operator `name`, `mylib::foo`; its results.

    Raises a SpecError for arguments or results that a graph cannot pass.
    """
    types: list[str] = []
    arguments: dict[str, Value] = {}
    for each in node.inputs:
        what = f"the argument '{each.name}' of the custom operator '{name}'"
        if not each.name.isidentifier() or not each.name.isascii() or each.name in arguments:
            raise SpecError(f"{what} cannot be read", "the file is damaged: export the model again")
        arguments[each.name], type_ = _argument(operand_of(each.arg, scope), what)
        types.append(type_)
    results = [_result(each, name) for each in node.outputs]
    if not results:
        raise SpecError(
            f"the custom operator '{name}' returns nothing, so it can only write to its arguments",
            "a graph has custom operators that return new tensors",
        )
    if len(results) > 1 and any(type_ != "Tensor" for _, type_ in results):
        raise SpecError(f"the custom operator '{name}' returns a list among other results", "return tensors")
    return builder.add_callee(
        node.target.removeprefix("torch.ops.").replace(".", "::", 1),
        Custom(name, overload, tuple(types)),
        arguments,
        results,
    )


def _argument(operand: Operand, what: str) -> tuple[Value, str]:
    """A value and its type in the schema language, as far as the value shows it."""
    if isinstance(operand, TypedValue) and operand.type in _PLAIN:
        return operand.value, operand.type
    if isinstance(operand, Several):
        items = [each for each in operand.items if isinstance(each, TypedValue)]
        kinds = {each.type for each in items}
        values = Many(tuple(each.value for each in items))
        if kinds <= {"Tensor", "None"} and "Tensor" in kinds:
            return values, "Tensor?[]" if "None" in kinds else "Tensor[]"
        if kinds <= {"int", "float"} and len(items) == len(operand.items):
            return values, "float[]" if "float" in kinds else "int[]"
        if kinds in ({"bool"}, {"str"}):
            return values, f"{kinds.pop()}[]"
    raise SpecError(f"{what} has a type that is not supported in a graph", "pass tensors, numbers, strings, or lists")


def _result(output: Argument, name: str) -> tuple[str, str]:
    """The name and the type of a result."""
    tensor = name_of(output)
    if tensor is not None:
        return tensor, "Tensor"
    if output.as_tensors:
        return f"{name.partition('::')[2]}_results", "Tensor[]"
    raise SpecError(
        f"the custom operator '{name}' returns something other than tensors",
        "a graph's custom operators return tensors",
    )
