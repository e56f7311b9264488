"""What all kernels of functionalization do: they unwrap tensors, and make meta tensors of them.

torchgen: `gen_functionalization_type.unwrap_tensor_args`, `gen_functionalization_type.convert_to_meta_tensors`,
`gen_functionalization_type.get_owning_type`.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import Parameter, kernel_name, parameters, returns_type
from gradmill.cpp.translate import Value
from gradmill.cpp.types import ITENSOR_LIST, TENSOR_LIST, TENSOR_VECTOR, Passing, argument_type
from gradmill.families.sections import Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, is_tensor_like
from gradmill.releases.model import Release

TEXT = Text("functionalize/functionalize.cpp", phrases=True)
UNWRAPPED, META = "_", "_meta"  # the ends of the names of variables with unwrapped, and with meta tensors
# Lists that own no tensors -> how the tensors of one are copied to a vector.
_COPIED = {TENSOR_LIST: "{0}.vec()", ITENSOR_LIST: "{{{0}.begin(), {0}.end()}}"}


class Wrapped(Struct, frozen=True, gc=False, array_like=True):
    """An argument that may hold wrapped tensors."""

    name: str
    type: str  # of the variable with unwrapped tensors
    plain: str  # its value if the tensors are not wrapped


class KernelSignature(Struct, frozen=True, gc=False, array_like=True):
    """The signature of a kernel."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    holders: tuple[Wrapped | None, ...]  # for each parameter: how it is unwrapped, if it may hold wrapped tensors


def kernel_of(function: NativeFunction, release: Release) -> KernelSignature:
    """The signature of a function's kernel. Raises SpecError for a type without C++."""
    schema, how = function.func, passing_of(function, release, symint=True)
    return KernelSignature(
        kernel_name(schema),
        returns_type(function, release),
        parameters(schema, how),
        tuple(_wrapped(a, how) if is_tensor_like(a.type) else None for a in schema.arguments),
    )


def _wrapped(argument: Argument, how: Passing) -> Wrapped:
    value = argument_type(argument.type, how, mutable=argument.is_write).value
    if value in _COPIED:
        return Wrapped(argument.name, TENSOR_VECTOR, _COPIED[value].format(argument.name))
    return Wrapped(argument.name, value, argument.name)


def scope(kernel: KernelSignature, end: str) -> list[Value]:
    """The parameters as a scope in which variables whose names have this end stand for those with tensors. A generated
    out argument may have the name of a number."""
    pairs = zip(kernel.parameters, kernel.holders, strict=True)
    return [Value(p.name, p.type, p.name if holder is None else f"{p.name}{end}") for p, holder in pairs]


def in_kernel(kernel: KernelSignature, release: Release, *, syncs: bool) -> dict[str, str]:
    """What all kernels print. `syncs`: whether pending writes to tensors are done first."""
    text, wrapped, unwrapped = TEXT.of(release), [each for each in kernel.holders if each is not None], []
    for each in wrapped:
        sync = text["sync"].fill({"name": each.name}) if syncs else ""
        unwrapped.append(text["unwrap"].fill({**asdict(each), "sync": sync}))
    parameters = ("c10::DispatchKeySet dispatchKeySet", *(f"{p.type} {p.name}" for p in kernel.parameters))
    return {
        "returns": kernel.returns,
        "kernel": kernel.name,
        "parameters": ", ".join(parameters),
        "unwrap": "\n      ".join(unwrapped),
        "to_meta": "\n        ".join(text["to_meta"].fill({"name": each.name}) for each in wrapped),
    }
