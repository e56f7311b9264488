"""What all kernels of functionalization do: they unwrap tensors, and make meta tensors of them.

torchgen: `gen_functionalization_type.unwrap_tensor_args`, `gen_functionalization_type.convert_to_meta_tensors`,
`gen_functionalization_type.get_owning_type`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import kernel_name, parameters, returns_type
from gradmill.cpp.translate import Value
from gradmill.cpp.types import ITENSOR_LIST, TENSOR_LIST, TENSOR_VECTOR, argument_type
from gradmill.families.sections import Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like
from gradmill.releases.model import Release

TEXT = Text("functionalize/functionalize.cpp", phrases=True)
UNWRAPPED, META = "_", "_meta"  # the ends of the names of variables with unwrapped, and with meta tensors
# Lists that own no tensors -> how the tensors of one are copied to a vector.
_COPIED = {TENSOR_LIST: "{0}.vec()", ITENSOR_LIST: "{{{0}.begin(), {0}.end()}}"}


def scope(function: NativeFunction, release: Release, end: str) -> list[Value]:
    """The parameters as a scope in which variables whose names have this end stand for those with tensors. A generated
    out argument may have the name of a number. Raises SpecError for a type without C++."""
    of = parameters(function.func, passing_of(function, release, symint=True))
    pairs = zip(of, function.func.arguments, strict=True)
    return [Value(p.name, p.type, f"{p.name}{end}" if is_tensor_like(a.type) else p.name) for p, a in pairs]


def in_kernel(function: NativeFunction, release: Release, *, syncs: bool) -> dict[str, str]:
    """What all kernels print. `syncs`: whether pending writes to tensors are done first."""
    text, how = TEXT.of(release), passing_of(function, release, symint=True)
    tensors, unwrapped = [a for a in function.func.arguments if is_tensor_like(a.type)], []
    for each in tensors:
        type_ = argument_type(each.type, how, mutable=each.is_write).value
        values = {
            "name": each.name,
            "type": TENSOR_VECTOR if type_ in _COPIED else type_,  # of the variable with unwrapped tensors
            "plain": _COPIED.get(type_, "{0}").format(each.name),  # its value if the tensors are not wrapped
            "sync": text["sync"].fill({"name": each.name}) if syncs else "",
        }
        unwrapped.append(text["unwrap"].fill(values))
    declared = (f"{p.type} {p.name}" for p in parameters(function.func, how))
    return {
        "returns": returns_type(function, release),
        "kernel": kernel_name(function.func),
        "parameters": ", ".join(("c10::DispatchKeySet dispatchKeySet", *declared)),
        "unwrap": "\n      ".join(unwrapped),
        "to_meta": "\n        ".join(text["to_meta"].fill({"name": each.name}) for each in tensors),
    }
