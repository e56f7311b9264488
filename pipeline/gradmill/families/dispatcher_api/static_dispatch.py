"""Renders the call of an operator past the dispatcher.

torchgen: `gen.static_dispatch`, `gen.translate_args`, `gen.generate_static_dispatch_backend_call`.
"""

from __future__ import annotations

from msgspec.structs import replace

from gradmill.cpp.bindings import REDUNDANT_MEMORY_FORMAT, bindings, cpp_name
from gradmill.cpp.dispatcher import Signature, values
from gradmill.cpp.translate import translate
from gradmill.families.sections import Sections
from gradmill.model.native import NativeFunction
from gradmill.model.schema import has_symint, is_tensor_like
from gradmill.releases.model import Release
from gradmill.rules.dispatch.static import called_keys, composite_key

_NEXT = "\n\t\t"  # between statements


def static_body(function: NativeFunction, signature: Signature, text: Sections, release: Release) -> str:
    """The lines of a function's body. SpecError if the arguments cannot be passed on."""
    if function.manual_kernel_registration:
        return "\n    \n"
    schema, symint = function.func, has_symint(function.func)
    goals = [(each.bound, each.cpp.passed) for each in bindings(function, release, symint=symint)]
    scope = values(signature.parameters)
    if any(meaning == REDUNDANT_MEMORY_FORMAT for meaning, _ in goals):
        scope = [
            replace(each, meaning=REDUNDANT_MEMORY_FORMAT) if each.meaning == "memory_format" else each
            for each in scope
        ]
    name = cpp_name(schema, symint=symint)
    call = f"{name}({', '.join(translate(scope, goals))});"
    calls = {key: f"return {_namespace(function, key)}::{call}" for key in called_keys(function, release)}
    composite = composite_key(function)
    otherwise = f"return at::{composite.lower()}::{call}" if composite else _unsupported(name, release)
    if len(calls) < 2:
        return f"\n    {next(iter(calls.values()), otherwise)}\n"
    sets = (
        ["DispatchKeySet(c10::computeDispatchKey(dtype, layout, device))"] if schema.options_index is not None else []
    )
    tensors = [each.name for each in schema.arguments if is_tensor_like(each.type)]
    if tensors:
        sets.append(f"c10::detail::multi_dispatch_key_set({', '.join(tensors)})")
    lines = _NEXT.join(line for key, own in calls.items() for line in (f"case DispatchKey::{key}:", f"\t{own};"))
    return text["switch"].fill({"sets": " | ".join(sets), "cases": f"\n        {lines}", "composite": otherwise})


def _namespace(function: NativeFunction, key: str) -> str:
    kernel = function.dispatch.get(key)
    own = "at" if kernel is None else kernel.namespace.replace("::native", "")
    return f"{own}::{key.lower()}"


def _unsupported(name: str, release: Release) -> str:
    return f'TORCH_CHECK(false, "Static dispatch does not support {name} for{", ".join(release.static_keys)} ");'
