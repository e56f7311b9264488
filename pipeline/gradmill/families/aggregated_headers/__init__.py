"""Family: the headers of kernels in builds of ATen where operators have no headers of their own: `NativeFunctions.h`,
`NativeMetaFunctions.h`, `CPUFunctions_inl.h` and the like declare all. A unit is a group of variants, or one function.

torchgen: `gen.gen_aggregated_headers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradmill.families.aten import InAten
from gradmill.families.family import Layout
from gradmill.families.file import Content, File, Pieces, WithHoles, pieces_in
from gradmill.families.kernel_headers import (
    KEY_INLINE,
    META,
    in_namespaces,
    is_of_all,
    key_header,
    keys_with_headers,
    spaces_by_key,
)
from gradmill.model.units import Unit
from gradmill.releases.model import Release

NATIVE_FUNCTIONS, META_FUNCTIONS = "NativeFunctions.h", "NativeMetaFunctions.h"
_NAMESPACES = "kernel_namespaces"


def piece_in(key: str, namespace: str) -> str:
    """The name of the piece with what is declared in a namespace of kernels for a key, "" for the kernels."""
    return f"{key} in {namespace}"


class AggregatedHeaders(InAten):
    """Groups in the order of the file. What several declare is printed once, by the first."""

    name, label = "aggregated_headers", "declarations of kernels"
    unit, subject = "variants", "variants.declared_kernels"
    rendered = (META,)  # and one for each namespace of kernels, and of functions for a dispatch key
    given, lists = "name_lists.lists", (_NAMESPACES,)
    shards_by = "base"

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The headers of kernels, of meta functions, and two for each dispatch key."""
        names, spaces = tuple(unit.name for unit in units), spaces_by_key(layout.given[self.name][_NAMESPACES])
        contents: dict[str, dict[str, Content]] = {
            NATIVE_FUNCTIONS: {
                "NativeFunctions_includes": f"#include <ATen/{META_FUNCTIONS}>",
                **_declarations("NativeFunctions_declarations", "", spaces.get("", {})),
            },
            META_FUNCTIONS: {
                "NativeMetaFunctions_includes": [],
                "NativeMetaFunctions_declarations": Pieces(META, on_line=True),
            },
        }
        listed = [
            File(name=name, template=f"ATen/{name}", holes=holes, units=names) for name, holes in contents.items()
        ]
        for key in keys_with_headers(release):
            holes = {
                "dispatch_namespace": key.lower(),
                "DispatchKeyFunctions_inl_includes": [],
                **_declarations("dispatch_namespaced_declarations", key, spaces.get(key, {})),
            }
            listed += [key_header(key), File(f"{key}Functions_inl.h", KEY_INLINE, holes, names)]
        return listed

    def owns(self, name: str) -> bool:
        return is_of_all(name.removesuffix(".h"))


def _declarations(hole: str, key: str, spaces: Mapping[str, bool]) -> dict[str, Content]:
    """A block of declarations for each namespace of kernels, and the pieces in them. `spaces`: each with whether
    something is declared there; an empty block is printed for kernels alone."""
    places = {namespace: f"{hole}_{i}" for i, (namespace, declares) in enumerate(spaces.items()) if declares}
    names = {each: each.replace("native", key.lower()) if key else each for each in (places if key else spaces)}
    blocks = [(name, [f"${{{places[each]}}}"] if each in places else []) for each, name in names.items()]
    pieces = pieces_in({place: piece_in(key, namespace) for namespace, place in places.items()})
    return {hole: WithHoles(in_namespaces(blocks), on_line=True), **pieces}


AGGREGATED_HEADERS = AggregatedHeaders()
