"""The call of an operator past the dispatcher: its plan and its text.

torchgen: `gen.static_dispatch`, `gen.translate_args`, `gen.generate_static_dispatch_backend_call`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from gradmill.cpp.bindings import REDUNDANT_MEMORY_FORMAT, bindings, cpp_name
from gradmill.cpp.dispatcher import Signature, values
from gradmill.cpp.translate import Value, translate
from gradmill.families.sections import Sections
from gradmill.model.native import NativeFunction
from gradmill.model.schema import has_symint, is_tensor_like
from gradmill.releases.model import Release
from gradmill.rules.dispatch.static import called_keys, composite_key

_NEXT = "\n\t\t"  # between statements


class StaticCall(Struct, frozen=True, gc=False, array_like=True):
    """What an operator calls. Without a function, nothing: its kernels are registered by hand."""

    function: str  # the C++ function, without its namespace: `add_out`
    arguments: str
    cases: tuple[tuple[str, str], ...]  # keys, each with the namespace of the function
    composite: str  # the namespace of the function for other keys; "" if there is none
    tensors: tuple[str, ...]  # arguments that decide the key
    has_options: bool  # whether tensor options do, too


def static_call(function: NativeFunction, signature: Signature, release: Release) -> StaticCall | None:
    """The call of a function; None if the build uses the dispatcher. SpecError if the arguments cannot be passed on."""
    if not release.static_keys:
        return None
    if function.manual_kernel_registration:
        return StaticCall(function="", arguments="", cases=(), composite="", tensors=(), has_options=False)
    schema, symint = function.func, has_symint(function.func)
    goals = [(each.bound, each.cpp.passed) for each in bindings(function, release, symint=symint)]
    scope = values(signature.parameters)
    if any(meaning == REDUNDANT_MEMORY_FORMAT for meaning, _ in goals):
        scope = [_redundant(each) if each.meaning == "memory_format" else each for each in scope]
    composite = composite_key(function)
    return StaticCall(
        function=cpp_name(schema, symint=symint),
        arguments=", ".join(translate(scope, goals)),
        cases=tuple((key, _namespace(function, key)) for key in called_keys(function, release)),
        composite=f"at::{composite.lower()}" if composite else "",
        tensors=tuple(each.name for each in schema.arguments if is_tensor_like(each.type)),
        has_options=schema.options_index is not None,
    )


def _redundant(value: Value) -> Value:
    return replace(value, meaning=REDUNDANT_MEMORY_FORMAT)


def _namespace(function: NativeFunction, key: str) -> str:
    kernel = function.dispatch.get(key)
    own = "at" if kernel is None else kernel.namespace.replace("::native", "")
    return f"{own}::{key.lower()}"


def static_body(call: StaticCall, keys: Iterable[str], text: Sections) -> str:
    """The lines of the function's body. `keys`: those of the build."""
    if not call.function:
        return "\n    \n"
    composite = _composite(call, keys)
    if len(call.cases) < 2:
        return f"\n    {_returned(call, call.cases[0][1]) if call.cases else composite}\n"
    sets = ["DispatchKeySet(c10::computeDispatchKey(dtype, layout, device))"] if call.has_options else []
    if call.tensors:
        sets.append(f"c10::detail::multi_dispatch_key_set({', '.join(call.tensors)})")
    cases = [(f"case DispatchKey::{key}:", f"\t{_returned(call, namespace)};") for key, namespace in call.cases]
    lines = _NEXT.join(line for case in cases for line in case)
    return text["switch"].fill({"sets": " | ".join(sets), "cases": f"\n        {lines}", "composite": composite})


def _returned(call: StaticCall, namespace: str) -> str:
    return f"return {namespace}::{call.function}({call.arguments});"


def _composite(call: StaticCall, keys: Iterable[str]) -> str:
    if call.composite:
        return _returned(call, call.composite)
    return f'TORCH_CHECK(false, "Static dispatch does not support {call.function} for{", ".join(keys)} ");'
