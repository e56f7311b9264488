"""Renders what a source with registrations for a dispatch key has besides these: its includes, and functions that
allocate and check results.

torchgen: `register_dispatch_key.gen_registration_headers`, `register_dispatch_key.gen_registration_helpers`.
"""

from __future__ import annotations

from gradmill.families.sections import Text
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import CUDA, META
from gradmill.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL

_TEXT, FILES = Text("backends/helpers.cpp", phrases=True), Text("backends/files.cpp", phrases=True)
_BY_DISPATCHER = (EXPLICIT_NON_FUNCTIONAL, "QuantizedCPU", "QuantizedCUDA")  # keys that allocate with `at::empty`


def extra_headers(key: str, release: Release) -> str:
    """The includes that keys of CUDA need."""
    section = "hip_headers" if release.for_hip else "cuda_headers"
    return _TEXT.of(release)[section].fill({}) if key.endswith(CUDA) else ""


def registration_headers(
    key: str, release: Release, *, of_operators: bool = True, compiled_ahead: bool = False
) -> list[str]:
    """The includes of kernels and functions that the text of all operators needs. `key`: "" for one that no function
    has kernels for; `of_operators`: whether each operator has its headers; `compiled_ahead`: whether there are kernels
    that are compiled ahead of time. Upstream includes their stubs for CUDA alone."""
    own, text, prefix = release.empty_headers.get(key), _TEXT.of(release), "" if of_operators else "aggregated_"
    if own is not None and release.for_hip:
        own = own.replace("/cuda/", "/hip/")
    of_empty = f"#include <{own}>" if own is not None else text[f"{prefix}dispatcher_headers"].fill({})
    stubs = [text["stubs_header"].fill({})] if compiled_ahead and key == CUDA else []
    return [text[f"{prefix}native_header"].fill({}), of_empty, *stubs, text["macros_header"].fill({})]


def registration_helpers(key: str, release: Release, *, structured: bool = False) -> list[str]:
    """The functions that classes of structured kernels call. `key`: as in `registration_headers`; `structured`: whether
    these classes are of a backend outside of ATen, which upstream has none of."""
    text, empty = _TEXT.of(release), ""
    if key in release.empty_headers:
        empty = f"at::detail::empty{{}}_{key.lower()}"
    elif structured or key in _BY_DISPATCHER:
        empty = "at::empty{}"
    values = {"empty": empty.format(""), "strided": empty.format("_strided")}
    options = "options.device(at::kMeta)" if key == META else "options"
    helpers = [
        text["opening"].fill({}),
        text["create_out"].fill({**values, "options": options}) if empty else "",
        text["resize_out"].fill({}) if key != EXPLICIT_NON_FUNCTIONAL else "",
        text["check_inplace"].fill({}),
        text["maybe_create_proxy"].fill(values) if empty else "",
        text["closing"].fill({}),
    ]
    return [each for each in helpers if each]
