"""Static dispatch: whose kernel an operator calls without the dispatcher, in builds for a few known backends.

torchgen: `gen.static_dispatch`, `gen.generate_static_dispatch_fallback_call`, `gen.get_static_dispatch_backend`.
"""

from __future__ import annotations

from gradmill.model.native import NativeFunction
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT, IMPLICIT_NESTED

_COMPOSITES = (EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT, IMPLICIT_NESTED)  # in upstream's order
INCLUDED = (IMPLICIT, IMPLICIT_NESTED, EXPLICIT, EXPLICIT_NON_FUNCTIONAL)  # the same, in that of its includes


def called_keys(function: NativeFunction, release: Release) -> list[str]:
    """The keys of the build whose kernels a function calls. One that delegates may call that of any key which can have
    structured kernels."""
    delegates = function.structured_delegate is not None
    return [
        key for key in release.static_keys if key in function.dispatch or (delegates and key in release.structured_keys)
    ]


def composite_key(function: NativeFunction) -> str:
    """The key of the composite kernel that serves the other backends; "" if there is none."""
    return next((key for key in _COMPOSITES if key in function.dispatch), "")


def header_keys(function: NativeFunction, release: Release) -> list[str]:
    """The keys whose header of the operator declares what is called, one for each key of the build. Upstream takes a
    function that delegates to have kernels for all of them."""
    if function.manual_kernel_registration:
        return []
    own = function.structured_delegate is not None
    keys = (key if own or key in function.dispatch else composite_key(function) for key in release.static_keys)
    return [key for key in keys if key]
