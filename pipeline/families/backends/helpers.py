"""Renders what a source with registrations for a dispatch key has besides these: its includes, and functions that
allocate and check results.

torchgen: `register_dispatch_key.gen_registration_headers`, `register_dispatch_key.gen_registration_helpers`.
"""

from __future__ import annotations

from pipeline.families.sections import Text
from pipeline.releases.model import Release
from pipeline.rules.dispatch.groups import CUDA, META
from pipeline.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL, IMPLICIT_NESTED

_TEXT = Text("backends/helpers.cpp")
_BY_DISPATCHER = (EXPLICIT_NON_FUNCTIONAL, "QuantizedCPU", "QuantizedCUDA")  # keys that allocate with `at::empty`


def extra_headers(key: str, release: Release) -> str:
    """The includes that keys of CUDA need."""
    return _TEXT.of(release)["cuda_headers"].fill({}) if key.endswith(CUDA) else ""


def registration_headers(key: str, release: Release, *, known: bool = True) -> list[str]:
    """The includes of kernels and functions that the text of all operators needs. `known`: whether upstream has kernels
    for the key, so that it knows which one it is."""
    own, text = release.empty_headers.get(key) if known else None, _TEXT.of(release)
    of_empty = f"#include <{own}>" if own is not None else text["dispatcher_headers"].fill({})
    return [text["native_header"].fill({}), of_empty, text["macros_header"].fill({})]


def registration_helpers(key: str, release: Release, *, known: bool = True) -> list[str]:
    """The functions that classes of structured kernels call. `known`: as in `registration_headers`."""
    if key == IMPLICIT_NESTED:
        return []
    text, empty, own = _TEXT.of(release), "", key if known else ""
    if own in release.empty_headers:
        empty = f"at::detail::empty{{}}_{own.lower()}"
    elif own in _BY_DISPATCHER:
        empty = "at::empty{}"
    values = {"empty": empty.format(""), "strided": empty.format("_strided")}
    options = "options.device(at::kMeta)" if own == META else "options"
    return [
        text["opening"].fill({}),
        text["create_out"].fill({**values, "options": options}) if empty else "",
        text["resize_out"].fill({}) if own != EXPLICIT_NON_FUNCTIONAL else "",
        text["check_inplace"].fill({}),
        text["maybe_create_proxy"].fill(values) if empty else "",
        text["closing"].fill({}),
    ]
