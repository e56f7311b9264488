"""Reads `cond`: a node with two nested graphs, one of which runs. Each becomes a function of its own."""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.extensions.graphs.callees import COND
from gradmill.extensions.graphs.exported.format import Argument, Graph, Node
from gradmill.extensions.graphs.exported.results import bind, name_of, symbol_of
from gradmill.extensions.graphs.exported.values import facts_of, operand_of
from gradmill.extensions.graphs.model import Cond, Function, Input, Int, Output, Place, Ref, Value
from gradmill.extensions.graphs.resolve.builder import GraphBuilder, identifier
from gradmill.extensions.graphs.resolve.operands import Operand, Several, TypedValue, is_tensor
from gradmill.problems.problem import SpecError

_AGAIN = "export the model again"


def graphs_of(node: Node) -> list[tuple[str, Graph]]:
    """The graphs of a cond: the one that runs if its first input is true, and the one that runs if it is false."""
    graphs = [each.arg.as_graph.graph for each in node.inputs[1:3] if each.arg.as_graph is not None]
    if len(graphs) != 2 or len(node.inputs) != 4:
        raise SpecError("'cond' cannot be read", _AGAIN)
    return list(zip(("true", "false"), graphs))


def inputs_of(graph: Graph) -> tuple[list[Input], dict[str, Operand]]:
    """The inputs of a branch, and its scope: the tensors and numbers that they name."""
    inputs: list[Input] = []
    scope: dict[str, Operand] = {}
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


def branch_of(
    name: str, outer: GraphBuilder, inputs: Sequence[Input], builder: GraphBuilder, results: Sequence[Operand]
) -> Function:
    """The function of a branch with the calls of `builder`; `outer` is its caller's. Of its results it returns the
    tensors: see `add_cond`."""
    outputs = tuple(
        Output(each.value, each.type) for each in results if isinstance(each, TypedValue) and is_tensor(each)
    )
    calls = tuple(builder.calls)
    return Function(name, outer.place, tuple(inputs), calls, outputs, len(outputs) == 1, callees=builder.callees)


def add_cond(builder: GraphBuilder, node: Node, name: str, scope: dict[str, Operand], cond: Cond) -> None:
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


def _bind_numbers(node: Node, scope: dict[str, Operand]) -> None:
    """Binds the numbers that a cond returns: constants, which both branches agree on."""
    (_, then), (_, otherwise) = graphs_of(node)
    for output, one, other in zip(node.outputs, then.outputs, otherwise.outputs):
        symbol = symbol_of(output)
        if symbol is None:
            continue
        if one.as_int is None or one.as_int != other.as_int:
            raise SpecError("the branches of 'cond' return different numbers", "return tensors: torch.tensor(2)")
        scope[symbol] = TypedValue(Int(one.as_int), "int")
