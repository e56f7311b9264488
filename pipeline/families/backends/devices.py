"""Which devices a wrapper checks and guards.

torchgen: `register_dispatch_key.RegisterDispatchKey.gen_device_check`.
"""

from __future__ import annotations

from pipeline.model.native import NativeFunction
from pipeline.model.schema import is_tensor_like
from pipeline.rules.dispatch.groups import CUDA

_NO_CHECK = "NoCheck"


def checked_arguments(function: NativeFunction) -> tuple[str, ...] | None:
    """The arguments that are to be on one device; None if that is not checked."""
    if function.device_check == _NO_CHECK:
        return None
    schema = function.func
    return tuple(a.name for a in (*schema.out, *schema.positional) if is_tensor_like(a.type))


def guard_of(function: NativeFunction, key: str) -> tuple[str, str]:
    """How a wrapper guards the device, a section of the text; and the argument whose device that is, if it is one."""
    schema = function.func
    if not function.device_guard:
        return UNGUARDED
    if schema.options_index is not None:
        return ("created_on_cuda" if key.endswith(CUDA) else "created"), ""
    own = (schema.self_argument,) if schema.self_argument is not None else ()
    tensor = next((a.name for a in (*own, *schema.out, *schema.positional) if is_tensor_like(a.type)), None)
    return UNGUARDED if tensor is None else ("guarded", tensor)


UNGUARDED = ("unguarded", "")
