"""The names of a node's arguments and results, and how results are bound to them."""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.extensions.graphs.exported.format import Argument
from gradmill.extensions.graphs.model import Item, Ref
from gradmill.extensions.graphs.resolve.builder import GraphBuilder
from gradmill.extensions.graphs.resolve.operands import Operand, Several, TypedValue


def name_of(argument: Argument) -> str | None:
    """The name of a tensor; None for anything else."""
    return argument.as_tensor.name if argument.as_tensor is not None else None


def symbol_of(argument: Argument) -> str | None:
    """The name of a number that is known at run time; None for anything else."""
    for symbolic in (argument.as_sym_int, argument.as_sym_float, argument.as_sym_bool):
        if symbolic is not None:
            return symbolic.as_name
    return None


def names_of(arguments: Sequence[Argument]) -> list[str]:
    """The names of all tensors among arguments, and in lists of these."""
    tensors = [name for argument in arguments if (name := name_of(argument)) is not None]
    tensors += [each.name for argument in arguments for each in argument.as_tensors or ()]
    optional = [argument.as_optional_tensor for argument in arguments]
    tensors += [each.as_tensor.name for each in optional if each is not None and each.as_tensor is not None]
    listed = (each.as_tensor for argument in arguments for each in argument.as_optional_tensors or ())
    return tensors + [each.name for each in listed if each is not None]


def first_name_of(arguments: Sequence[Argument]) -> str:
    """The first of these names, "" if there is none."""
    return next(iter(names_of(arguments)), "")


def bind(outputs: Sequence[Argument], results: Operand, scope: dict[str, Operand], builder: GraphBuilder) -> None:
    """Binds the results of a call to their names in the graph."""
    operands = results.items if isinstance(results, Several) else (results,)
    for output, operand in zip(outputs, operands):
        name = name_of(output) or symbol_of(output)
        if name is not None:
            scope[name] = operand
        elif output.as_tensors is not None and isinstance(operand, TypedValue) and isinstance(operand.value, Ref):
            builder.expect_length(operand, len(output.as_tensors))
            for index, each in enumerate(output.as_tensors):
                scope[each.name] = TypedValue(Item(operand.value.name, index), "Tensor")
