"""The plan of a function by which vmap calls the batching rule of an operator: all facts that its text needs.

It passes each tensor as a value and the dimension of its batch, and joins those of the results.

torchgen: `gen_vmap_plumbing.gen_vmap_plumbing`, `gen_vmap_plumbing.gen_vmap_inplace_plumbing`,
`gen_vmap_plumbing.gen_vmap_plumbing_no_returns`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from pipeline.cpp.dispatcher import Signature, signature_of
from pipeline.grammar.names import unambiguous_name
from pipeline.grammar.types import element
from pipeline.model.native import NativeFunction
from pipeline.model.schema import Schema, is_list, is_tensor_like, schema_kind
from pipeline.releases.model import Release

Kind = Literal["tensor", "optional", "list", "other"]


class Value(Struct, frozen=True, gc=False, array_like=True):
    """An argument or a result."""

    name: str
    kind: Kind
    is_tensor_like: bool


class PlumbingPlan(Struct, frozen=True, gc=False, array_like=True):
    """The plumbing of one function."""

    signature: Signature
    form: Literal["functional", "inplace", "no_returns"]
    arguments: tuple[Value, ...]
    returns: tuple[Value, ...]


def plan(function: NativeFunction, release: Release) -> PlumbingPlan | None:
    """The plan of a function; None if it has no plumbing. Raises SpecError for a type that C++ lacks."""
    schema = function.func
    form = _form(function, release)
    if form is None or not any(is_tensor_like(a.type) for a in schema.arguments):
        return None
    return PlumbingPlan(
        signature_of(function, release),
        form,
        tuple(_value(a.name, a.type) for a in schema.arguments),
        tuple(_value("", r.type) for r in schema.returns),
    )


def _form(function: NativeFunction, release: Release) -> Literal["functional", "inplace", "no_returns"] | None:
    schema = function.func
    if not schema.returns:
        return "no_returns"
    tensors = all(is_tensor_like(r.type) for r in schema.returns)
    if not tensors and unambiguous_name(schema.name) not in release.vmap_other_returns:
        return None
    if "inplace_view" in function.tags:
        return None
    if schema_kind(schema) == "functional":
        return "functional"
    return "inplace" if schema_kind(schema) == "inplace" and _writes_first_only(schema) else None


def _writes_first_only(schema: Schema) -> bool:
    """Whether an in-place function writes to its first argument alone, and returns tensors and lists of them."""
    writes = [a.is_write for a in schema.arguments]
    returns = {_value("", r.type).kind for r in schema.returns}
    return writes[0] and writes.count(True) == 1 and returns <= {"tensor", "list"}


def _value(name: str, type_: str) -> Value:
    inner = element(type_) if type_ != "Tensor" else None
    kind: Kind = "other"
    if type_ == "Tensor":
        kind = "tensor"
    elif inner == "Tensor":
        kind = "list" if is_list(type_) else "optional"
    return Value(name, kind, is_tensor_like(type_))
