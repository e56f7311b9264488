"""The wrapper of a kernel that takes what the dispatcher passes: it checks and guards the device, and calls the kernel.

torchgen: `register_dispatch_key.RegisterDispatchKey.gen_unstructured`,
`register_dispatch_key.RegisterDispatchKey.gen_device_check`.
"""

from __future__ import annotations

from typing import NamedTuple

from gradmill.families.sections import Text
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import CUDA

_TEXT = Text("backends/wrappers.cpp", phrases=True)
_NO_CHECK = "NoCheck"
_UNGUARDED = ("unguarded", "")


class Call(NamedTuple):
    """The call of a kernel for a dispatch key."""

    key: str
    kernel: str  # qualified
    arguments: str
    guards: bool  # whether kernels for the key may be on several devices


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


def wrapper(function: NativeFunction, name: str, declarator: str, call: Call, release: Release) -> str:
    """The definition of the wrapper, with the checks and the guard of its device."""
    text, checked = _TEXT.of(release), checked_arguments(function) if call.guards else None
    guard, guarded = _guard(function, call.key) if call.guards else _UNGUARDED
    return text["calling"].fill(
        {
            "kernel": call.kernel,
            "arguments": call.arguments,
            "declarator": declarator,
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


def registration(operator: str, name: str, release: Release) -> str:
    """The registration of the wrapper."""
    return _TEXT.of(release)["registration"].fill({"operator": operator, "wrapper": name})


def dense(text: str, release: Release) -> str:
    """A text without empty lines: upstream drops them in what it registers."""
    return "\n".join(line for line in text.split("\n") if (line.strip() if release.trims_lines else line))
