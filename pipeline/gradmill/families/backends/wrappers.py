"""The wrapper of a kernel that takes what the dispatcher passes: it checks and guards the device, and calls the kernel.

torchgen: `register_dispatch_key.RegisterDispatchKey.gen_unstructured`,
`register_dispatch_key.RegisterDispatchKey.gen_device_check`.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.cpp.backend_kernels import declarator
from gradmill.cpp.bindings import cpp_name
from gradmill.families.sections import Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema, is_tensor_like
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import CUDA

_TEXT = Text("backends/wrappers.cpp", phrases=True)
_NO_CHECK = "NoCheck"
_UNGUARDED = ("unguarded", "")


def wrapper_name(schema: Schema, key: str) -> str:
    """The name of the wrapper of a function for a key."""
    return f"wrapper_{key}_{schema.name.overload}_{cpp_name(schema)}"


def checked_arguments(function: NativeFunction) -> tuple[str, ...] | None:
    """The arguments that must be on one device; None if that is not checked."""
    if function.device_check == _NO_CHECK:
        return None
    schema = function.func
    return tuple(a.name for a in (*schema.out, *schema.positional) if is_tensor_like(a.type))


def _guard(function: NativeFunction, key: str) -> tuple[str, str]:
    """How the device is guarded: it is that of the options, or of the first tensor."""
    schema = function.func
    if not function.device_guard:
        return _UNGUARDED
    if schema.options_index is not None:
        return ("guarded_by_options_on_cuda" if key.endswith(CUDA) else "guarded_by_options"), ""
    own = (schema.self_argument,) if schema.self_argument is not None else ()
    tensors = [a.name for a in (*own, *schema.out, *schema.positional) if is_tensor_like(a.type)]
    return ("guarded", tensors[0]) if tensors else _UNGUARDED


def wrapper(
    function: NativeFunction, key: str, kernel: str, arguments: Iterable[str], release: Release, *, guards: bool
) -> str:
    """The definition of the wrapper of a kernel, by its qualified name, with the checks and the guard of its device.
    `guards`: whether kernels for the key may be on several devices."""
    text, name = _TEXT.of(release), wrapper_name(function.func, key)
    checked, (guard, guarded) = (checked_arguments(function), _guard(function, key)) if guards else (None, _UNGUARDED)
    return text["calling"].fill(
        {
            "kernel": kernel,
            "arguments": ", ".join(arguments),
            "declarator": declarator(function, name, release, symint=True),
            "check": device_check(checked, name, release),
            "guard": text[guard].fill({"name": guarded}),
        }
    )


def device_check(checked: tuple[str, ...] | None, name: str, release: Release) -> str:
    """The check that the arguments of a wrapper are on one device."""
    text = _TEXT.of(release)
    if checked is None:
        return text["unchecked"].fill({})
    checks = (text["checked"].fill({"name": argument, "wrapper": name}) for argument in checked)
    return text["checks"].fill({}) + "".join(checks)


def registration(schema: Schema, key: str, release: Release) -> str:
    """The registration of the wrapper."""
    return _TEXT.of(release)["registration"].fill({"operator": str(schema.name), "wrapper": wrapper_name(schema, key)})


def dense(text: str, release: Release) -> str:
    """A text without empty lines: upstream drops them in what it registers."""
    return "\n".join(line for line in text.split("\n") if (line.strip() if release.trims_lines else line))
