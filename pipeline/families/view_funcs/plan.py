"""What is printed of a class that makes a view again, worked out once.

Such a class holds the arguments of the view function but for the base. Of those, symbolic integers and tensors can be
asked for and replaced. Rules: torchgen.packaged.autograd.gen_view_funcs.
"""

from typing import Literal

from msgspec import Struct

from pipeline.cpp.bindings import check_default, passing_of
from pipeline.cpp.dispatcher import Parameter, signature_of
from pipeline.cpp.types import argument_type
from pipeline.cpp.view_funcs import view_func, view_func_macro
from pipeline.model.native import NativeFunction
from pipeline.model.schema import Argument, Schema, is_tensor_like
from pipeline.problems.problem import SpecError
from pipeline.releases.model import Release

_OWNED = {"at::IntArrayRef": "::std::vector<int64_t>", "c10::SymIntArrayRef": "::std::vector<c10::SymInt>"}


class State(Struct, frozen=True, gc=False, array_like=True):
    """An argument that can be replaced: by one value, as many as it has, or one if it has any."""

    name: str
    holds: Literal["one", "list", "optional"]


class ViewFuncPlan(Struct, frozen=True, gc=False, array_like=True):
    """All that is printed of one class."""

    view_func: str
    macro: str
    header: str
    struct: str  # of `at::_ops`
    parameters: tuple[Parameter, ...]  # of the constructor
    initializers: tuple[tuple[str, str], ...]  # member and expression
    members: tuple[Parameter, ...]
    symints: tuple[State, ...]
    tensors: tuple[State, ...]
    is_list: bool  # whether the function returns several views, of which the class makes one


def plan_view_func(function: NativeFunction, release: Release) -> ViewFuncPlan:
    """The plan of a class; a SpecError for a view that no such class can make."""
    schema = function.func
    _check(function, release)
    signature = signature_of(function, release)
    given = tuple(p for p in signature.parameters if p.name != "self")
    held = schema.arguments[1:]
    members, expressions = zip(*(_member(a, function, release) for a in held)) if held else ((), ())
    state = [a for a in schema.arguments if a.name != "self"]
    return ViewFuncPlan(
        view_func(str(schema.name)),
        view_func_macro(str(schema.name)),
        signature.header,
        signature.struct,
        given,
        tuple((p.name, expression) for p, expression in zip(given, expressions)),
        members,
        tuple(_state(a) for a in state if a.type.startswith("SymInt")),
        tuple(_state(a) for a in state if is_tensor_like(a.type)),
        "[" in schema.returns[0].type and is_tensor_like(schema.returns[0].type),
    )


def _check(function: NativeFunction, release: Release) -> None:
    """Refuses what upstream's class cannot hold."""
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
                f"view '{schema.name}' takes '{argument}', which cannot be held until the view is made again",
                "of tensors, views take Tensor and Tensor?",
                needle=str(argument),
            )
    _check_first(schema)


def _check_first(schema: Schema) -> None:
    if any(a.name == "self" for a in schema.arguments[1:]):
        raise SpecError(f"'self' is not the first argument of view '{schema.name}'", "let it come first", needle="self")


def _member(argument: Argument, function: NativeFunction, release: Release) -> tuple[Parameter, str]:
    """The member that holds an argument, and how it is made: of what is a reference to a list it has a copy."""
    value = argument_type(argument.type, passing_of(function, release, symint=True), mutable=False).value
    if value in _OWNED:
        return Parameter(argument.name, _OWNED[value]), f"{argument.name}.vec()"
    return Parameter(argument.name, value), argument.name


def _state(argument: Argument) -> State:
    return State(
        argument.name, "list" if "[" in argument.type else "optional" if argument.type.endswith("?") else "one"
    )
