"""The devices that have C functions, and what those of an operator call.

On a device it calls the operator's kernel, past the dispatcher; those of `aten` call the operator.

torchgen: `gen_aoti_c_shim.gen_c_shim`, `gen_aoti_c_shim.get_backend_index_for_aoti`,
`gen_aoti_c_shim.get_header_for_aoti`, `gen_aoti_c_shim.gen_static_dispatch_backend_call`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import cpp_name
from gradmill.model.schema import has_symint
from gradmill.model.shims import Shimmed
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT

ATEN = "aten"  # in place of a device
_COMPOSITE = (EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT)


def devices_of(release: Release) -> dict[str, str]:
    """The devices that have C functions, each with its dispatch key, "" for `aten`."""
    keys = {device: "" if device == ATEN else device.upper() for device in release.shim_devices}
    omitted = release.absent_keys | (release.omitted_keys if release.shims_by_key else frozenset())
    return {device: key for device, key in keys.items() if key not in omitted}


def callee(shimmed: Shimmed, device: str, key: str, release: Release) -> tuple[str, str] | None:
    """The C++ function that those for a device call, and its header; None if the operator has no kernel for it."""
    function = shimmed.function
    schema, base = function.func, function.func.name.base
    name = cpp_name(schema, symint=has_symint(schema))
    if device == ATEN:
        is_template = has_symint(schema) and "function" not in function.variants
        call = f"at::symint::{name.removesuffix('_symint')}<c10::SymInt>" if is_template else f"at::{name}"
        return call, f"ATen/ops/{base}.h"
    own = key in function.dispatch or key in shimmed.structured
    composite = () if release.shims_extend else (each for each in _COMPOSITE if each in function.dispatch)
    found = key if own else next(iter(composite), None)
    if found is None:
        return None
    return f"at::{found.lower()}::{name}", f"ATen/ops/{base}_{found.lower()}_dispatch.h"
