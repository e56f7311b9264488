"""What a build of ATen asks for beyond its usual files."""

from __future__ import annotations

from msgspec import Struct


class AtenRequest(Struct, frozen=True, omit_defaults=True):
    """The options of a build of ATen."""

    backends: tuple[str, ...] = ()  # the optional backends whose kernels its files include
    extend_shims: bool = False  # whether AOTInductor's C functions are of a backend outside of PyTorch
    static_dispatch: tuple[str, ...] = ()  # the keys whose kernels operators call without the dispatcher, in order
    dispatch_keys: tuple[str, ...] = ()  # the only keys with files, besides the composite ones; none: all
    registrations: str = ""  # `none`: nothing is registered; `schemas`: all schemas, whatever is selected
    operator_names: tuple[str, ...] | None = None  # the selected operators; None: all, or those of a file


USUAL = AtenRequest()
