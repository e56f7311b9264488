"""The plan and the text of a BackendSelect kernel: an `#include`, the kernel, its registration.

torchgen: `gen.ComputeBackendSelect`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.dispatcher import Signature, signature_of
from gradmill.families.sections import Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like
from gradmill.releases.model import Release

_TEXT = Text("backend_select/kernel.cpp")


class BackendSelectPlan(Struct, frozen=True, gc=False, array_like=True):
    """The kernel of one function."""

    signature: Signature
    schema: str
    tensors: tuple[str, ...]  # arguments that also decide the backend


def plan(function: NativeFunction, release: Release) -> BackendSelectPlan:
    """The plan of a kernel. Raises SpecError for a type that C++ lacks."""
    schema = function.func
    tensors = tuple(a.name for a in schema.arguments if is_tensor_like(a.type))
    return BackendSelectPlan(signature_of(function, release), str(schema), tensors)


def include(plan: BackendSelectPlan, release: Release) -> str:
    """The `#include` of the operator's header."""
    return f"#include <{plan.signature.header}>"


def registration(plan: BackendSelectPlan, release: Release) -> str:
    """The registration of the kernel."""
    return f'm.impl("aten::{plan.signature.operator}", TORCH_FN({plan.signature.kernel}));'


def definition(plan: BackendSelectPlan, release: Release) -> str:
    """The kernel."""
    text, signature = _TEXT.of(release), plan.signature
    keys = text["keys_of_tensors" if plan.tensors else "keys"]
    return text["definition"].fill(
        {
            "schema": plan.schema,
            "returns": signature.returns,
            "kernel": signature.kernel,
            "parameters": [f"{p.type} {p.name}" for p in signature.parameters],
            "keys": keys.fill({"tensors": list(plan.tensors)}).removesuffix("\n"),
            "struct": signature.struct,
            "arguments": [p.name for p in signature.parameters],
        }
    )
