"""The plan of a ViewFunc, a class that replays a view: all facts that its text needs.

A ViewFunc saves the arguments of the view function except the base. Its users can get and replace the symbolic integers
and the tensors among them.

torchgen: `gen_view_funcs.process_function`, `gen_view_funcs.generate_state_getter_setter`.
"""

from typing import Literal

from msgspec import Struct

from gradmill.cpp.bindings import check_default, passing_of
from gradmill.cpp.dispatcher import Parameter, signature_of
from gradmill.cpp.types import OWNED_LISTS, argument_type
from gradmill.cpp.view_funcs import view_func, view_func_macro
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, Schema, is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release


class State(Struct, frozen=True, gc=False, array_like=True):
    """A replaceable argument: one value, a list of a fixed length, or an optional value."""

    name: str
    shape: Literal["one", "list", "optional"]


class ViewFuncPlan(Struct, frozen=True, gc=False, array_like=True):
    """The class of one view function."""

    view_func: str
    macro: str
    header: str
    struct: str  # of `at::_ops`
    parameters: tuple[Parameter, ...]  # of the constructor
    initializers: tuple[tuple[str, str], ...]  # member and expression
    members: tuple[Parameter, ...]
    symints: tuple[State, ...]
    tensors: tuple[State, ...]
    is_list: bool  # whether the function returns several views; the class replays one


def plan(function: NativeFunction, release: Release) -> ViewFuncPlan:
    """The plan of a class. Raises SpecError for a view that no ViewFunc can replay."""
    schema = function.func
    _check(function, release)
    signature = signature_of(function, release)
    own = tuple(p for p in signature.parameters if p.name != "self")
    saved = schema.arguments[1:]
    members, expressions = zip(*(_member(a, function, release) for a in saved)) if saved else ((), ())
    replaceable = [a for a in schema.arguments if a.name != "self"]
    return ViewFuncPlan(
        view_func=view_func(str(schema.name)),
        macro=view_func_macro(str(schema.name)),
        header=signature.header,
        struct=signature.struct,
        parameters=own,
        initializers=tuple((p.name, expression) for p, expression in zip(own, expressions)),
        members=members,
        symints=tuple(_state(a) for a in replaceable if a.type.startswith("SymInt")),
        tensors=tuple(_state(a) for a in replaceable if is_tensor_like(a.type)),
        is_list="[" in schema.returns[0].type and is_tensor_like(schema.returns[0].type),
    )


def _check(function: NativeFunction, release: Release) -> None:
    """Raises SpecError for a view that upstream's class cannot represent."""
    schema, how = function.func, passing_of(function, release, symint=True)
    if len(schema.returns) != 1:
        raise SpecError(
            f"view '{schema.name}' returns {len(schema.returns)} values", "let it return Tensor or Tensor[]"
        )
    for argument in schema.arguments:
        if argument.default is not None:
            check_default(argument, how)
        if argument.is_write or argument.type.startswith("Tensor["):
            raise SpecError(
                f"view '{schema.name}' takes '{argument}', which cannot be saved to replay the view",
                "of tensors, views take only Tensor and Tensor?",
                needle=str(argument),
            )
    _check_first(schema)


def _check_first(schema: Schema) -> None:
    if any(a.name == "self" for a in schema.arguments[1:]):
        raise SpecError(f"'self' is not the first argument of view '{schema.name}'", "let it come first", needle="self")


def _member(argument: Argument, function: NativeFunction, release: Release) -> tuple[Parameter, str]:
    """The member for an argument, and its initializer. A reference to a list is copied."""
    value = argument_type(argument.type, passing_of(function, release, symint=True), mutable=False).value
    if value in OWNED_LISTS:
        return Parameter(argument.name, OWNED_LISTS[value]), f"{argument.name}.vec()"
    return Parameter(argument.name, value), argument.name


def _state(argument: Argument) -> State:
    return State(
        argument.name, "list" if "[" in argument.type else "optional" if argument.type.endswith("?") else "one"
    )
