"""The text of a BackendSelect kernel: an `#include`, the kernel, its registration.

torchgen: `gen.ComputeBackendSelect`.
"""

from __future__ import annotations

from gradmill.cpp.dispatcher import signature_of
from gradmill.families.family import DEFINITION, INCLUDE, REGISTRATION
from gradmill.families.sections import Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like
from gradmill.releases.model import Release

_TEXT = Text("backend_select/kernel.cpp")


def render(function: NativeFunction, release: Release) -> dict[str, str]:
    """All pieces of a kernel. Raises SpecError for a type that C++ lacks."""
    text, signature = _TEXT.of(release), signature_of(function, release)
    tensors = [a.name for a in function.func.arguments if is_tensor_like(a.type)]  # which also decide the backend
    keys = text["keys_of_tensors" if tensors else "keys"]
    kernel = text["definition"].fill(
        {
            "schema": str(function.func),
            "returns": signature.returns,
            "kernel": signature.kernel,
            "parameters": [f"{p.type} {p.name}" for p in signature.parameters],
            "keys": keys.fill({"tensors": tensors}).removesuffix("\n"),
            "struct": signature.struct,
            "arguments": [p.name for p in signature.parameters],
        }
    )
    return {
        INCLUDE: f"#include <{signature.header}>",
        DEFINITION: kernel,
        REGISTRATION: f'm.impl("aten::{signature.operator}", TORCH_FN({signature.kernel}));',
    }
