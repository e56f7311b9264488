"""The operator that is registered for a function: its arguments, its schema.

torch's dispatcher takes at most 64. A function with more inputs takes the tensors of its model as lists, one for each
role that the model has: parameters, buffers, constants. The C++ function has one parameter for each input.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import count

from msgspec import Struct

from gradmill.extensions.graphs.model import (
    Bool,
    Constant,
    Float,
    Function,
    GraphError,
    Input,
    Int,
    Kind,
    Many,
    Nothing,
    Str,
    Value,
)
from gradmill.model.schema import Argument, OperatorName, Return, Schema

MOST = 64
# What the lexer of schemas takes for no name: torch/csrc/jit/frontend/lexer.h, and Ellipsis and NoneType.
_NO_NAMES = frozenset(
    """
    Ellipsis False None NoneType True and as assert break class continue def del elif else for global if import in is
    not or pass raise return while with
    """.split()
)
_LISTS: dict[Kind, str] = {"parameter": "parameters", "buffer": "buffers", "constant": "constants"}


class OperatorArgument(Struct, frozen=True):
    """An argument of the operator: one input, or with `role` a list of inputs."""

    inputs: tuple[Input, ...]
    role: str = ""


def arguments(function: Function) -> list[OperatorArgument]:
    """The arguments of the operator. Raises a GraphError if there are more than the dispatcher takes, or for a name
    that a schema cannot have."""
    inputs = function.inputs
    for name, place in ((function.name, function.place), *((each.name, each.place) for each in inputs)):
        if name in _NO_NAMES or not name.isascii():
            hint = "rename it: a schema has names of ASCII, and no keywords; a '.pt2' is named after its file"
            raise GraphError(place, f"torch cannot register an operator with the name '{name}' in its schema", hint)
    if len(inputs) <= MOST:
        return [OperatorArgument((input_,)) for input_ in inputs]
    names = {input_.name for input_ in inputs}
    kinds = dict.fromkeys(input_.kind for input_ in inputs if input_.kind in _LISTS)
    lists = {kind: _unused(_LISTS[kind], names) for kind in kinds}
    packed = [OperatorArgument(tuple(i for i in inputs if i.kind == kind), role) for kind, role in lists.items()]
    packed += [OperatorArgument((input_,)) for input_ in inputs if input_.kind not in lists]
    if len(packed) > MOST:
        what = f"the operator would have {len(packed)} arguments; torch's dispatcher takes {MOST}"
        raise GraphError(function.place, what, "pass lists of tensors: xs: list[Tensor]")
    return packed


def schema_text(name: str, function: Function, given: Iterable[OperatorArgument], written: Container[str] = ()) -> str:
    """The schema of `function` as the operator `name`: `namespace::f(Tensor x, int n=2) -> (Tensor, Tensor)`.

    `given`: its arguments. `written`: the inputs to annotate, each in an alias set of its own.
    """
    sets = count()
    listed: dict[bool, list[Argument]] = {False: [], True: []}  # by whether they are keyword-only
    for argument in given:
        first = argument.inputs[0]
        type_ = f"{first.type}[]" if argument.role else first.type
        default = None if argument.role or first.default is None else _literal(first.default)
        is_written = any(input_.name in written for input_ in argument.inputs)
        annotation = f"a{next(sets)}!" if is_written else None
        listed[first.keyword_only].append(Argument(argument.role or first.name, type_, default, annotation))
    returns = tuple(Return(output.type) for output in function.outputs)
    return str(Schema(OperatorName(name), tuple(listed[False]), tuple(listed[True]), returns=returns))


def _literal(value: Value) -> str:
    """A default in a schema."""
    if isinstance(value, Nothing):
        return "None"
    if isinstance(value, Many):
        return f"[{', '.join(map(_literal, value.values))}]"
    if isinstance(value, Str):
        return f"'{value.value}'"
    if isinstance(value, (Int, Float, Bool)):
        return str(value.value)
    return value.name if isinstance(value, Constant) else "None"


def _unused(name: str, names: set[str]) -> str:
    return _unused(f"{name}_", names) if name in names else name
