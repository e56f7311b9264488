"""Family: the headers of kernels in ATen, one for each operator and kind: `add_native.h`, `add_meta.h`,
`add_cpu_dispatch.h`; and those that include all of a kind. A unit is an operator.

torchgen: `gen.gen_per_operator_headers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from gradmill.families.aten import InAten
from gradmill.families.family import OPERATORS, Layout, OperatorHeader
from gradmill.families.file import File
from gradmill.model.units import Unit
from gradmill.releases import KNOWN, minor, resolve
from gradmill.releases.model import Release

NATIVE, META, INCLUDE = "native", "meta", "include of meta"
TEMPLATE = "ATen/NativeFunction.h"
KEY, KEY_INLINE = "ATen/DispatchKeyFunctions.h", "ATen/DispatchKeyFunctions_inl.h"
NAMESPACE = "at::native"  # of kernels, unless their entry names another one
_ALL = {"NativeFunctions": "_native", "NativeMetaFunctions": "_meta"}  # headers that include those of all operators


def header_piece(key: str) -> str:
    """The name of the piece that includes an operator's header for a key."""
    return f"{key} header"


class KernelHeaders(InAten):
    """Operators in the order of their first functions. A header for a key exists if it declares something."""

    name, label = "kernel_headers", "headers of kernels"
    unit, subject = "operator", "operators.operator_kernels"
    templates = (
        TEMPLATE,
        "ATen/NativeMetaFunction.h",
        "ATen/DispatchKeyFunction.h",
        *(f"ATen/{name}.h" for name in _ALL),
        KEY,
        KEY_INLINE,
    )
    needs = TEMPLATE
    rendered = (NATIVE, META, INCLUDE)  # and two for each dispatch key that has headers
    folders = (OPERATORS,)
    of_operators = True
    shards_by = "base"
    subsets = {"aten": "", "headers": ""}

    def headers(self, release: Release) -> tuple[OperatorHeader, ...]:
        """The headers of one operator."""
        by_key = (
            OperatorHeader(
                f"_{key.lower()}_dispatch",
                "ATen/DispatchKeyFunction.h",
                {"dispatch_namespaced_declarations": key},
                {"dispatch_namespace": key.lower()},
                optional=key,
            )
            for key in keys_with_headers(release)
        )
        return (
            OperatorHeader("_native", TEMPLATE, {"extra_includes": INCLUDE, "native_function_declarations": NATIVE}),
            OperatorHeader("_meta", "ATen/NativeMetaFunction.h", {"meta_function_declarations": META}, optional=META),
            *by_key,
        )

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The headers of operators, and those that include them by name."""
        names = tuple(sorted(unit.name for unit in units))
        listed = self.header_files(units, release)
        listed += [_of_all(name, suffix, names) for name, suffix in _ALL.items()]
        return listed + [file for key in keys_with_headers(release) for file in _of_key(key, names)]

    def owns(self, name: str) -> bool:
        stem = name.removeprefix(f"{OPERATORS}/").removesuffix(".h")
        if name.startswith(f"{OPERATORS}/"):
            return stem.endswith(("_native", "_meta", "_dispatch"))
        return is_of_all(stem)


def is_of_all(stem: str) -> bool:
    """Whether a header, without its ending, is about all operators."""
    return stem in _ALL or stem.removesuffix("_inl") in _stems_of_keys()


def keys_with_headers(release: Release) -> list[str]:
    """The dispatch keys that have headers, sorted."""
    return sorted(release.header_keys & release.file_keys)


@cache
def _stems_of_keys() -> frozenset[str]:
    """`CPUFunctions` and so on, of all keys that may have headers."""
    return frozenset(f"{key}Functions" for key in resolve(minor(KNOWN[-1])).header_keys)


def _of_all(name: str, suffix: str, names: tuple[str, ...]) -> File:
    """A header that includes those of all operators, also where they do not exist."""
    includes = [f"#include <ATen/ops/{each}{suffix}.h>" for each in names]
    holes: dict[str, str | list[str]] = {f"{name}_includes": includes, f"{name}_declarations": []}
    return File(name=f"{name}.h", template=f"ATen/{name}.h", constants=holes, slots={}, units=names)


def key_header(key: str) -> File:
    """The header of a key's functions for programs."""
    return File(
        name=f"{key}Functions.h",
        template=KEY,
        constants={"inline_headers": f"#include <ATen/{key}Functions_inl.h>"},
        slots={},
        units=(),
    )


def _of_key(key: str, names: tuple[str, ...]) -> tuple[File, File]:
    """The header of a key's functions for programs, and the one with the functions, for headers of tensors."""
    holes: dict[str, str | list[str]] = {"dispatch_namespace": key.lower(), "dispatch_namespaced_declarations": []}
    slots = {"DispatchKeyFunctions_inl_includes": header_piece(key)}
    return key_header(key), File(
        name=f"{key}Functions_inl.h", template=KEY_INLINE, constants=holes, slots=slots, units=names
    )


KERNEL_HEADERS = KernelHeaders()
