"""Family: the headers of kernels in ATen, one for each operator and kind: `add_native.h`, `add_meta.h`,
`add_cpu_dispatch.h`; and those that include all of a kind. A unit is an operator.

torchgen: `gen.gen_per_operator_headers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from gradmill.families.aten import InAten
from gradmill.families.backends import closing, opening
from gradmill.families.family import OPERATORS, Layout
from gradmill.families.file import ANY, Content, File, Pieces, pieces_in
from gradmill.model.units import Unit
from gradmill.releases import KNOWN, minor, resolve
from gradmill.releases.model import Release

NATIVE, META, INCLUDE = "native", "meta", "include of meta"
TEMPLATE = "ATen/NativeFunction.h"
KEY, KEY_INLINE = "ATen/DispatchKeyFunctions.h", "ATen/DispatchKeyFunctions_inl.h"
NAMESPACE = "at::native"  # of kernels, unless their entry names another one
AFTER_NAMESPACE = " " * 8  # the indentation of upstream's source, which only the end of the file does without
_ALL = {"NativeFunctions": "_native", "NativeMetaFunctions": "_meta"}  # headers that include those of all operators


def header_piece(key: str) -> str:
    """The name of the piece that includes an operator's header for a key."""
    return f"{key} header"


def in_namespaces(blocks: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The text of namespaces, each with its own lines."""
    texts = ("\n".join([opening(name), *lines, closing(name)]) for name, lines in blocks)
    return f"\n{AFTER_NAMESPACE}\n".join(texts)


def spaces_by_key(rows: Iterable[str]) -> dict[str, dict[str, bool]]:
    """The namespaces in a list over all functions by dispatch key, "" for all keys, each with whether it has text."""
    found: dict[str, dict[str, bool]] = {}
    for row in rows:
        key, namespace, *empty = row.split(" ")
        found.setdefault(key, {})[namespace] = not empty
    return found


class KernelHeaders(InAten):
    """Operators in the order of their first functions. A header for a key exists if it declares something."""

    name, label = "kernel_headers", "headers of kernels"
    unit, subject = "operator", "operators.operator_kernels"
    rendered = (NATIVE, META, INCLUDE)  # and two for each dispatch key that has headers
    folders = (OPERATORS,)
    shards_by = "base"

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The headers of operators, and those that include them by name."""
        names, keys = tuple(sorted(unit.name for unit in units)), keys_with_headers(release)
        return [
            *_of_operators(tuple(unit.name for unit in units), keys),
            *(_of_all(name, suffix, names) for name, suffix in _ALL.items()),
            *(file for key in keys for file in _of_key(key, names)),
        ]

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


def _of_operators(names: tuple[str, ...], keys: Iterable[str]) -> Iterator[File]:
    """The headers of one operator."""
    native = pieces_in({"extra_includes": INCLUDE, "native_function_declarations": NATIVE})
    yield File(name=f"{OPERATORS}/{ANY}_native.h", template=TEMPLATE, holes=native, units=names)
    meta = {"meta_function_declarations": Pieces(META, needed=True)}
    yield File(name=f"{OPERATORS}/{ANY}_meta.h", template="ATen/NativeMetaFunction.h", holes=meta, units=names)
    for key in keys:
        own = Pieces(key, needed=True)
        yield File(
            name=f"{OPERATORS}/{ANY}_{key.lower()}_dispatch.h",
            template="ATen/DispatchKeyFunction.h",
            holes={"dispatch_namespace": key.lower(), "dispatch_namespaced_declarations": own},
            units=names,
        )


def _of_all(name: str, suffix: str, names: tuple[str, ...]) -> File:
    """A header that includes those of all operators, also where they do not exist."""
    includes = [f"#include <ATen/ops/{each}{suffix}.h>" for each in names]
    holes: dict[str, Content] = {f"{name}_includes": includes, f"{name}_declarations": []}
    return File(name=f"{name}.h", template=f"ATen/{name}.h", holes=holes, units=names)


def key_header(key: str) -> File:
    """The header of a key's functions for programs."""
    holes = {"inline_headers": f"#include <ATen/{key}Functions_inl.h>"}
    return File(name=f"{key}Functions.h", template=KEY, holes=holes)


def _of_key(key: str, names: tuple[str, ...]) -> tuple[File, File]:
    """The header of a key's functions for programs, and the one with the functions, for headers of tensors."""
    holes: dict[str, Content] = {"dispatch_namespace": key.lower(), "dispatch_namespaced_declarations": []}
    holes |= pieces_in({"DispatchKeyFunctions_inl_includes": header_piece(key)})
    return key_header(key), File(name=f"{key}Functions_inl.h", template=KEY_INLINE, holes=holes, units=names)


KERNEL_HEADERS = KernelHeaders()
