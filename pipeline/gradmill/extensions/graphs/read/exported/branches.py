"""Reads `cond`: a node with two nested graphs, one of which runs. Each becomes a function of its own."""

from __future__ import annotations

from gradmill.extensions.graphs.model import Cond, Custom, Input, Int, Many, Place, Ref, Value
from gradmill.extensions.graphs.operator import COND
from gradmill.extensions.graphs.read.exported.format import Argument, Graph, Node
from gradmill.extensions.graphs.read.exported.values import bind, facts_of, name_of, operand_of, symbol_of
from gradmill.extensions.graphs.read.resolve.builder import GraphBuilder, identifier
from gradmill.extensions.graphs.read.resolve.operands import Operand, Scope, Several, TypedValue, is_tensor
from gradmill.problems.problem import SpecError

_AGAIN = "export the model again"


def graphs_of(node: Node) -> list[tuple[str, Graph]]:
    """The graphs of a cond: the one that runs if its first input is true, and the one that runs if it is false."""
    graphs = [each.arg.as_graph.graph for each in node.inputs[1:3] if each.arg.as_graph is not None]
    if len(graphs) != 2 or len(node.inputs) != 4:
        raise SpecError("'cond' cannot be read", _AGAIN)
    return list(zip(("true", "false"), graphs))


def inputs_of(graph: Graph) -> tuple[list[Input], Scope]:
    """The inputs of a branch, and its scope: the tensors and numbers that they name."""
    inputs: list[Input] = []
    scope: Scope = {}
    for argument in graph.inputs:
        name = name_of(argument) or symbol_of(argument)
        if name is None:
            raise SpecError("a branch of 'cond' has an input that is neither a tensor nor a number known at run time")
        type_ = "Tensor" if name_of(argument) else _number_type(argument)
        meta = graph.tensor_values.get(name)
        facts = facts_of(meta) if type_ == "Tensor" and meta is not None else None
        inputs.append(Input(identifier(name), type_, Place(), facts=facts))
        scope[name] = TypedValue(Ref(identifier(name)), type_)
    return inputs, scope


def _number_type(argument: Argument) -> str:
    return "int" if argument.as_sym_int is not None else "float" if argument.as_sym_float is not None else "bool"


def add_cond(builder: GraphBuilder, node: Node, name: str, scope: Scope, cond: Cond) -> None:
    """Adds the call of a cond, and binds its results."""
    condition = operand_of(node.inputs[0].arg, scope)
    if is_tensor(condition):
        condition = builder.scalar("truth", [condition], f"{name}_condition")
    operands = operand_of(node.inputs[3].arg, scope)
    items = operands.items if isinstance(operands, Several) else ()
    outputs = [each for each in node.outputs if name_of(each) is not None]
    signatures = {
        (*(each.type for each in branch.inputs), len(branch.outputs)) for branch in (cond.then, cond.otherwise)
    }
    fits = len(items) == len(cond.then.inputs) and len(outputs) == len(cond.then.outputs) and len(signatures) == 1
    if not isinstance(condition, TypedValue) or condition.type != "bool" or not fits:
        raise SpecError("'cond' cannot be read", _AGAIN)
    arguments: dict[str, Value] = {"condition": condition.value}
    for i, (item, input_) in enumerate(zip(items, cond.then.inputs, strict=True)):
        if not isinstance(item, TypedValue) or item.type != input_.type:
            raise SpecError(f"the input '{input_.name}' of a branch of 'cond' gets another type of value", _AGAIN)
        arguments[f"operand_{i}"] = item.value
    if not outputs:
        raise SpecError("'cond' returns no tensor", "return a tensor from both branches")
    results = builder.add_callee(COND, cond, arguments, [(name_of(each) or "", "Tensor") for each in outputs])
    bind(outputs, results, scope, builder)
    _bind_numbers(node, scope)


def _bind_numbers(node: Node, scope: Scope) -> None:
    """Binds the numbers that a cond returns: constants, which both branches agree on."""
    (_, then), (_, otherwise) = graphs_of(node)
    for output, one, other in zip(node.outputs, then.outputs, otherwise.outputs):
        symbol = symbol_of(output)
        if symbol is None:
            continue
        if one.as_int is None or one.as_int != other.as_int:
            raise SpecError("the branches of 'cond' return different numbers", "return tensors: torch.tensor(2)")
        scope[symbol] = TypedValue(Int(one.as_int), "int")


# ---- operators that the set does not have


_PLAIN = ("Tensor", "int", "float", "bool", "str", "None", "ScalarType", "MemoryFormat", "Layout", "Device")


def add_custom(builder: GraphBuilder, node: Node, scope: Scope) -> Operand:
    """Adds a call of an operator; its results. Raises a SpecError for arguments or results that a graph cannot pass."""
    operator = node.target.removeprefix("torch.ops.").replace(".", "::", 1)  # `mylib::foo.default`
    name, _, overload = operator.partition(".")
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
    custom = Custom(name, overload if overload != "default" else "", tuple(types))
    return builder.add_callee(operator, custom, arguments, results)


def _argument(operand: Operand, what: str) -> tuple[Value, str]:
    """A value and its type in the schema language, where the value shows it."""
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
