"""The plan of a tracing kernel: all facts that its text needs.

A kernel records the call in the trace, calls the next kernel, and records the results. Functions that return no tensor
are called without recording.

torchgen: `gen_trace_type.emit_trace_body`, `gen_trace_type.format_prerecord_trace`,
`gen_trace_type.format_postrecord_trace`.
"""

from msgspec import Struct

from gradmill.cpp.bindings import cpp_name, return_names
from gradmill.cpp.dispatcher import Signature, declared_results, returned_results, signature_of
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema, is_tensor_like, modifies, schema_kind
from gradmill.releases.model import Release
from gradmill.rules.native.tracing import is_recorded

_TAKES_OPTIONS = ("normal",)  # base names: upstream treats all their out variants as factories, because some are


class Guard(Struct, frozen=True, gc=False, array_like=True):
    """An argument that is written to. In a trace without in-place operators no other tensor may share its memory."""

    name: str  # of the C++ function
    argument: str


class Recording(Struct, frozen=True, gc=False, array_like=True):
    """How a call is recorded. The record may depend on whether the trace allows only out-of-place operators."""

    names: tuple[str, ...]  # of the operator; of two, the out-of-place one comes first
    inputs: tuple[str, ...]
    outs: tuple[str, ...]  # the arguments that take results; recorded as inputs, too, if operators are in-place
    options_of_out: bool  # whether out-of-place records have the options of `out` as inputs: factories do
    like_arguments: bool  # whether out-of-place records are of another operator with more arguments
    guard: Guard | None
    outputs: tuple[tuple[str, ...], ...]  # names of results; of two lists, the out-of-place one comes first


class TracePlan(Struct, frozen=True, gc=False, array_like=True):
    """The kernel of one function."""

    signature: Signature
    results: str  # the assignment to variables; "" if arguments take the results
    returned: str
    recording: Recording | None


def plan(function: NativeFunction, release: Release) -> TracePlan:
    """The plan of a tracing kernel. Raises SpecError for a type that C++ lacks."""
    schema = function.func
    makes_results = bool(schema.returns) and schema_kind(schema) in ("functional", "mutable")
    return TracePlan(
        signature_of(function, release),
        f"{declared_results(schema)} = " if makes_results else "",
        returned_results(schema),
        _recording(function, release) if is_recorded(schema, release) else None,
    )


def _recording(function: NativeFunction, release: Release) -> Recording:
    schema = function.func
    writes = modifies(schema) and not schema.name.dunder
    outs = tuple(a.name for a in schema.out)
    names = return_names(schema)
    return Recording(
        names=_names(schema, release),
        inputs=tuple(a.name for a in schema.inputs),
        outs=outs,
        options_of_out=bool(outs) and _makes_from_nothing(function),
        like_arguments=writes and schema.name.base in release.recorded_as,
        guard=Guard(cpp_name(schema), outs[0] if outs else "self") if writes else None,
        outputs=(names,) if not outs or outs == names else (outs, names),
    )


def _names(schema: Schema, release: Release) -> tuple[str, ...]:
    whole = schema_kind(schema) in ("functional", "out") or schema.name.dunder
    names = (schema.name.unqualified,) if whole else (schema.name.base, cpp_name(schema))
    return tuple(release.recorded_as.get(name, name) for name in names)


def _makes_from_nothing(function: NativeFunction) -> bool:
    """Whether a recorded function creates a tensor without a tensor input. Recorded functions return tensors."""
    schema = function.func
    if function.category_override == "factory" or schema.name.base in _TAKES_OPTIONS:
        return True
    return not any(is_tensor_like(a.type) for a in schema.inputs)
