"""The arguments of an operation as lazy nodes see them.

A node has values, which are tensors and what is made one, as operands, and everything else as members.

torchgen: `lazy.LazyIrSchema`, `lazy.process_ir_type`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from gradmill.cpp.types import optional
from gradmill.grammar.types import base_type, element
from gradmill.model.schema import Argument, Schema
from gradmill.problems.problem import SpecError, nearest
from gradmill.releases.model import Release

VALUE = "torch::lazy::Value"
_KNOWN = "Tensor Scalar ScalarType int SymInt bool float str Device Generator Layout MemoryFormat".split()

# The properties of a node, one of each group. Upstream's names.
SHAPE = ("ShapePrecompute", "ShapeCompute", "ShapeCache")  # how the constructor computes the shape
LOWER, REUSE = ("Lower", "LowerDeclOnly"), ("CanBeReused", "CanBeReusedDeclOnly")
CREATE = ("CreateFn", "CreateFnDeclOnly")
GROUPS: tuple[tuple[str, ...], ...] = (SHAPE, LOWER, REUSE, CREATE, ("TreatScalarsAsConstants",))
NATIVE = ("ShapePrecompute", "Lower", "CanBeReused")
NON_NATIVE = ("ShapeCache", "CanBeReused", "LowerDeclOnly")


class IrArgument(Struct, frozen=True, gc=False, array_like=True):
    """An argument of a node."""

    name: str
    type: str  # of the schema
    cpp: str  # the C++ type that the node keeps
    form: Literal["base", "optional", "vector", "list"]
    element: str  # of a list, and of a list that is optional: the C++ type of its items; "" for others
    is_value: bool
    is_tensor_list: bool  # one value for a whole list of tensors
    is_scalar: bool  # a Scalar, which becomes a value
    is_symint: bool  # a SymInt, which becomes a value
    is_generator: bool


class IrSchema(Struct, frozen=True, gc=False, array_like=True):
    """An operation as its node sees it."""

    name: str  # with overload
    operator: str  # without
    node: str  # the class
    positional: tuple[IrArgument, ...]
    keyword: tuple[IrArgument, ...]
    returns: int  # how many
    kind: str  # the C++ of its OpKind; "" for the operator's symbol
    properties: tuple[str, ...]

    @property
    def arguments(self) -> tuple[IrArgument, ...]:
        """All arguments."""
        return self.positional + self.keyword

    @property
    def values(self) -> tuple[IrArgument, ...]:
        """The operands of the node."""
        return tuple(a for a in self.arguments if a.is_value)

    @property
    def members(self) -> tuple[IrArgument, ...]:
        """The other arguments."""
        return tuple(a for a in self.arguments if not a.is_value)

    @property
    def tensors(self) -> tuple[str, ...]:
        """The names of the values that are not made of scalars."""
        return tuple(a.name for a in self.values if not a.is_scalar)


def node_name(schema: Schema) -> str:
    """The class of an operation's nodes: `AddTensor` for `add.Tensor`."""
    words = f"{schema.name.unqualified}_{schema.name.overload}".lower().split("_")
    return "".join(word.capitalize() for word in words)


def ir_schema(
    schema: Schema, release: Release, *, symint: bool, kind: str = "", properties: tuple[str, ...] = NATIVE
) -> IrSchema:
    """An operation as its node sees it. `symint`: whether a SymInt becomes a value, and not an integer. Raises a
    SpecError for an argument that no node can have."""
    constant = "TreatScalarsAsConstants" in properties
    positional, keyword = (
        tuple(_argument(a, release, symint=symint, constant=constant) for a in each)
        for each in (schema.positional, schema.kwarg_only + schema.out)
    )
    generators = [a.name for a in keyword if a.is_generator]
    if len(generators) > 1:
        problem = f"there are two generators, '{generators[0]}' and '{generators[1]}'"
        raise SpecError(problem, "a node may have one", field=("func",), needle=generators[1])
    return IrSchema(
        name=str(schema.name),
        operator=schema.name.unqualified,
        node=node_name(schema),
        positional=positional,
        keyword=keyword,
        returns=len(schema.returns),
        kind=kind,
        properties=properties,
    )


def chosen(defaults: tuple[str, ...], properties: tuple[str, ...]) -> tuple[str, ...]:
    """The properties of a node, the last one of each group. SpecError if one is unknown."""
    by_group: dict[tuple[str, ...], str] = {}
    for name in (*defaults, *properties):
        group = next((group for group in GROUPS if name in group), None)
        if group is None:
            known = [each for group in GROUPS for each in group]
            hint = nearest(name, known) or f"properties: {', '.join(known)}"
            raise SpecError(f"unknown property '{name}'", hint, needle=name)
        by_group[group] = name
    return tuple(by_group.values())


def _argument(argument: Argument, release: Release, *, symint: bool, constant: bool) -> IrArgument:
    type_ = argument.type
    base = base_type(type_)
    if base not in _KNOWN:
        problem = f"argument '{argument.name}' has the type '{type_}', which no lazy node can have"
        raise SpecError(problem, "move the operator to supported, and write its kernel", field=("func",), needle=type_)
    cpp, form, of = _cpp(type_, release, symint=symint, constant=constant)
    inner = type_[:-1] if type_.endswith("?") else type_
    return IrArgument(
        name=argument.name,
        type=type_,
        cpp=cpp,
        form=form,
        element=of,
        is_value=VALUE in cpp,
        is_tensor_list=inner.endswith("]") and element(inner) == "Tensor",
        is_scalar=base == "Scalar",
        is_symint=symint and inner == "SymInt",
        is_generator=type_.rstrip("?") == "Generator",
    )


_Form = Literal["base", "optional", "vector", "list"]


def _cpp(type_: str, release: Release, *, symint: bool, constant: bool) -> tuple[str, _Form, str]:
    """The C++ type that a node keeps for a schema type, its form, and the type of a list's items."""
    inner = element(type_)
    if inner is None:
        is_value = type_ == "Tensor" or (type_ == "Scalar" and not constant) or (type_ == "SymInt" and symint)
        base = "int" if type_ == "SymInt" else type_
        return VALUE if is_value else release.base_types[base], "base", ""
    if type_.endswith("?"):
        cpp, form, of = _cpp(inner, release, symint=symint, constant=constant)
        return optional(cpp), "optional", of if form == "vector" else ""
    if inner == "Tensor?":
        return f"c10::List<{optional(VALUE)}>", "list", ""
    if inner == "Tensor":
        return VALUE, "base", ""
    cpp, form, _ = _cpp(inner, release, symint=symint and inner != "SymInt", constant=constant)
    return f"::std::vector<{cpp}>", "vector", cpp if form == "base" else ""
