"""Family: the headers of kernels in builds of ATen where operators have no headers of their own: `NativeFunctions.h`,
`NativeMetaFunctions.h`, `CPUFunctions_inl.h` and the like declare all. A unit is a group of variants, or one function.

torchgen: `gen.gen_aggregated_headers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradmill.families.aten import InAten
from gradmill.families.family import Layout
from gradmill.families.file import Content, File, Pieces, WithHoles, pieces_in
from gradmill.families.kernel_headers.files import KEY, KEY_INLINE, META, is_of_all, key_header, keys_with_headers
from gradmill.model.units import Unit
from gradmill.releases.model import Release

NATIVE_FUNCTIONS, META_FUNCTIONS = "NativeFunctions.h", "NativeMetaFunctions.h"
_NAMESPACES = "kernel_namespaces"

Blocks = list[tuple[str, bool]]  # namespaces, each with whether something is declared there


def piece_in(key: str, namespace: str) -> str:
    """The name of the piece with what is declared in a namespace of kernels for a key, "" for the kernels."""
    return f"{key} in {namespace}"


class AggregatedHeaders(InAten):
    """Groups in the order of the file. What several declare is printed once, by the first."""

    name, label = "aggregated_headers", "declarations of kernels"
    unit, subject = "variants", "variants.declared_kernels"
    templates = (f"ATen/{NATIVE_FUNCTIONS}", f"ATen/{META_FUNCTIONS}", KEY, KEY_INLINE)
    needs = f"ATen/{NATIVE_FUNCTIONS}"
    rendered = (META,)  # and one for each namespace of kernels, and of functions for a dispatch key
    given, lists = "name_lists.lists", (_NAMESPACES,)
    of_operators = False
    shards_by = "base"
    subsets = {"aten": "", "headers": ""}

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The headers of kernels, of meta functions, and two for each dispatch key."""
        names, blocks = tuple(unit.name for unit in units), _blocks(layout.given[self.name][_NAMESPACES])
        declarations = Pieces((META,), on_line=True)
        listed = [
            _kernels(names, blocks.get("", []), release),
            File(
                name=META_FUNCTIONS,
                template=f"ATen/{META_FUNCTIONS}",
                holes={"NativeMetaFunctions_includes": [], "NativeMetaFunctions_declarations": declarations},
                units=names,
            ),
        ]
        for key in keys_with_headers(release):
            listed += [key_header(key), _functions(key, names, blocks.get(key, []), release)]
        return listed

    def owns(self, name: str) -> bool:
        return is_of_all(name.removesuffix(".h"))


def _blocks(rows: Iterable[str]) -> dict[str, Blocks]:
    """The namespaces of kernels by dispatch key, "" for all keys."""
    found: dict[str, Blocks] = {}
    for row in rows:
        key, namespace, *empty = row.split(" ")
        found.setdefault(key, []).append((namespace, not empty))
    return found


def _kernels(names: tuple[str, ...], blocks: Blocks, release: Release) -> File:
    holes: dict[str, Content] = {"NativeFunctions_includes": f"#include <ATen/{META_FUNCTIONS}>"}
    spaces = {namespace: namespace for namespace, _ in blocks}
    return _file(
        name=NATIVE_FUNCTIONS,
        template=f"ATen/{NATIVE_FUNCTIONS}",
        key="",
        holes=holes,
        units=names,
        blocks=(blocks, spaces),
        release=release,
    )


def _functions(key: str, names: tuple[str, ...], blocks: Blocks, release: Release) -> File:
    holes: dict[str, Content] = {"dispatch_namespace": key.lower(), "DispatchKeyFunctions_inl_includes": []}
    declaring = [each for each in blocks if each[1]]
    spaces = {namespace: namespace.replace("native", key.lower()) for namespace, _ in declaring}
    return _file(
        name=f"{key}Functions_inl.h",
        template=KEY_INLINE,
        key=key,
        holes=holes,
        units=names,
        blocks=(declaring, spaces),
        release=release,
    )


def _file(
    name: str,
    template: str,
    key: str,
    holes: dict[str, Content],
    units: tuple[str, ...],
    blocks: tuple[Blocks, dict[str, str]],
    release: Release,
) -> File:
    """A header with a block of declarations for each namespace of kernels. `blocks`: with the names in the file."""
    from gradmill.families.kernel_headers.text import namespaces  # reads a file, for few runs

    hole = "dispatch_namespaced_declarations" if key else "NativeFunctions_declarations"
    listed, spaces = blocks
    places = {namespace: f"{hole}_{i}" for i, (namespace, declares) in enumerate(listed) if declares}
    lines = [(spaces[each], [f"${{{places[each]}}}"] if each in places else []) for each, _ in listed]
    pieces = pieces_in({place: piece_in(key, namespace) for namespace, place in places.items()})
    declarations = WithHoles(namespaces(lines, release), on_line=True)
    return File(name=name, template=template, holes={**holes, hole: declarations, **pieces}, units=units)


AGGREGATED_HEADERS = AggregatedHeaders()
