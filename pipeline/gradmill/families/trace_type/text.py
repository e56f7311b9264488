"""The text of a tracing kernel: the `#include` of its operator's header, the kernel, its registration.

A kernel records the call in the trace, calls the next kernel, and records the results. Functions that return no tensor
are called without recording. The record may depend on whether the trace allows only out-of-place operators.

torchgen: `gen_trace_type.emit_trace_body`, `gen_trace_type.format_prerecord_trace`,
`gen_trace_type.format_postrecord_trace`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import cpp_name, return_names
from gradmill.cpp.dispatcher import declared_results, returned_results, signature_of
from gradmill.families.family import DEFINITION, INCLUDE, REGISTRATION
from gradmill.families.sections import Sections, Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema, is_tensor_like, modifies, schema_kind
from gradmill.releases.model import Release
from gradmill.rules.native.tracing import is_recorded

_TEXT = Text("trace_type/trace_type.cpp")
_AFTER = "ks & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Tracer)"
_BEFORE, _THEN = "tracer_state->force_outplace", "force_outplace"  # whether all operators must be out-of-place
_TAKES_OPTIONS = ("normal",)  # base names: upstream treats all their out variants as factories, because some are


def render(function: NativeFunction, release: Release) -> dict[str, str]:
    """All pieces of a kernel. Raises SpecError for a type that C++ lacks."""
    text, schema, signature = _TEXT.of(release), function.func, signature_of(function, release)
    makes_results = bool(schema.returns) and schema_kind(schema) in ("functional", "mutable")
    call = {
        "results": f"{declared_results(schema)} = " if makes_results else "",
        "struct": signature.struct,
        "arguments": signature.passed(_AFTER),
    }
    returned, records = returned_results(schema), is_recorded(schema, release)
    kernel = {
        "returns": signature.returns,
        "kernel": signature.kernel,
        "parameters": signature.declared,
        "body": [
            _record(function, release, text) if records else "",
            text["call"].fill(call),
            _recorded(schema, text) if records else "",
            f"return {returned};" if returned else "",
        ],
    }
    return {
        INCLUDE: text["include"].fill({"header": signature.header}),
        DEFINITION: text["definition"].fill(kernel),
        REGISTRATION: text["registration"].fill({"operator": signature.operator, "kernel": signature.kernel}),
    }


def _record(function: NativeFunction, release: Release, text: Sections) -> str:
    """The part before the call. In a trace without in-place operators no other tensor may share the memory of an
    argument that is written to."""
    schema = function.func
    names = [text["op_name"].fill({"name": name}) for name in _names(schema, release)]
    guard = {"name": cpp_name(schema), "argument": schema.out[0].name if schema.out else "self"}
    return text["record"].fill(
        {
            "op_name": names if len(names) == 1 else ["\n", _choice(text, _BEFORE, *names)],
            "inputs": _inputs(function, release, text),
            "ensure_unique": text["ensure_unique"].fill(guard) if _writes(schema) else "",
        }
    )


def _writes(schema: Schema) -> bool:
    return modifies(schema) and not schema.name.dunder


def _recorded(schema: Schema, text: Sections) -> str:
    """The part after the call. If arguments take the results, an out-of-place record names these."""
    names, outs = return_names(schema), tuple(a.name for a in schema.out)
    lists = (names,) if not outs or outs == names else (outs, names)
    outputs = ["".join(text["output"].fill({"name": name}) for name in listed) for listed in lists]
    return text["recorded"].fill({"outputs": outputs if len(outputs) == 1 else ["\n", _choice(text, _THEN, *outputs)]})


def _inputs(function: NativeFunction, release: Release, text: Sections) -> list[str]:
    """The arguments. Those that take results are recorded, too, if operators are in-place; if not, factories have the
    options of `out` in their place. Some in-place functions are recorded as another operator with more arguments."""
    schema = function.func
    inputs = [text["input"].fill({"name": a.name}) for a in schema.inputs]
    if schema.out:
        options = text["options_of_out"].fill({}) if _makes_from_nothing(function) else ""
        outs = "".join(text["input"].fill({"name": a.name}) for a in schema.out)
        inputs += ["\n", _choice(text, _BEFORE, options, outs)]
    if _writes(schema) and schema.name.base in release.recorded_as:
        more = _choice(text, _BEFORE, text["like_arguments"].fill({}), "")
        inputs += ["\n", more] if schema.out else [more]
    return inputs


def _choice(text: Sections, condition: str, out_of_place: str, in_place: str) -> str:
    return text["choice"].fill({"condition": condition, "out_of_place": out_of_place, "in_place": in_place})


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
