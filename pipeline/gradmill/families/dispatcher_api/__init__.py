"""Family: what ATen's files say of operators that depends on their signatures alone. A unit is one function.

The structs of `at::_ops` by which all C++ calls operators, with a header for each operator, `add_ops.h`; schemas, names
and tags for the dispatcher and TorchScript; the plumbing of vmap.

torchgen: `gen.gen_per_operator_headers`, `gen.get_native_function_schema_registrations`, `gen.compute_aten_op`,
`gen_vmap_plumbing.gen_all_vmap_plumbing`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from gradmill.families.aten import InAten
from gradmill.families.enum_tag import checked_tags
from gradmill.families.family import (
    DECLARATION,
    DEFINITION,
    INCLUDE,
    OPERATORS,
    REGISTRATION,
    Layout,
    library_piece,
)
from gradmill.families.file import ANY, File, WithHoles, pieces_in
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.sharded import Sharded
from gradmill.model.native import FunctionNames, FunctionSummary
from gradmill.model.units import Unit
from gradmill.releases.model import Release
from gradmill.rules.dispatch.static import INCLUDED

NAME, KERNEL, PLUMBING = "name", "kernel", "plumbing"  # pieces: in a list of names; declarations of other functions
_ROW = FAMILY_ROWS["dispatcher_api"]
_STRUCT, _STRUCTS, _METHODS, _SCHEMAS, _NAMES, _KERNELS, _SYMBOLS, _TAGS, _SOURCE = _ROW.templates
_PLUMBING = "VmapGeneratedPlumbing.h"  # it has no template
_PLUMBING_HEAD = "#include <ATen/functorch/PlumbingHelper.h>"
_ROWS = " \\\n"  # between the lines of a macro
_FRAGMENTS = ("quantized", "quantized_decomposed")  # namespaces with libraries that others define
# Alternative tokens of C++ are not identifiers.
_KEYWORDS = frozenset("and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq".split())


class DispatcherApi(InAten, Sharded):
    """Functions in the order of parsing. Each overload includes the header of its operator in the sources."""

    name, label = "dispatcher_api", "operators of the dispatcher"
    subject = "schema_registrations.registration"
    rendered = (INCLUDE, DECLARATION, DEFINITION, REGISTRATION, NAME, KERNEL, PLUMBING)
    slots = {"operator_headers": INCLUDE, "definitions": DEFINITION}
    homes = {"static_dispatch_extra_headers": ""}
    folders = (OPERATORS, "core")
    given, lists = "name_lists.lists", ("methods", "symbols", "attributes", "namespaces", "libraries")
    shards_by, upstream_shards = "base", 5

    def titled(self, names: FunctionNames) -> str:
        """The name of the struct."""
        return f"at::_ops::{names.name.replace('.', '_')}"

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The files, first those with all functions in their order. SpecError for a tag that is not text."""
        from gradmill.families.dispatcher_api.plumbing import TEXT  # reads a file, for few runs

        names, lists = tuple(unit.name for unit in units), layout.given[self.name]
        sources = super().files(units, layout, release)
        of_keys = {"static_dispatch_extra_headers": _headers_of_keys(release)}
        header = pieces_in({"declarations": DECLARATION})
        of_each = File(name=f"{OPERATORS}/{ANY}_ops.h", template=_STRUCT, holes=header, units=names)
        return [
            _schemas(names, lists["namespaces"], lists["libraries"]),
            File(name="core/ATenOpList.cpp", template=_NAMES, holes=pieces_in({"aten_ops": NAME}), units=names),
            File(
                name="RegistrationDeclarations.h",
                template=_KERNELS,
                holes=pieces_in({"registration_declarations": KERNEL}),
                units=names,
            ),
            File(
                name=_PLUMBING,
                template="",
                holes=pieces_in({"plumbing": PLUMBING}),
                units=names,
                before=TEXT.of(release)["file"].fill({"plumbing": "${plumbing}"}),
                head=_PLUMBING_HEAD,
            ),
            _symbols(lists["symbols"], lists["attributes"]),
            File(
                name="core/enum_tag.h",
                template=_TAGS,
                holes={"enum_of_valid_tags": ",\n".join(checked_tags(layout))},
            ),
            *_structs(units, frozenset(lists["methods"]), of_operators=layout.operator_headers),
            *(replace(file, holes={**of_keys, **file.pieces}) for file in sources),
            *([of_each] if layout.operator_headers else ()),
        ]

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """True: all functions are operators."""
        return True

    def owns(self, name: str) -> bool:
        if name.startswith(f"{OPERATORS}/"):
            return name.endswith("_ops.h")
        known = (_PLUMBING, *(os.path.basename(template) for template in self.row.templates[1:-1]))
        return os.path.basename(name) in known or super().owns(name)


def _includes(roots: Iterable[str]) -> list[str]:
    """The `#include`s of operators' headers."""
    return [f"#include <ATen/ops/{root}_ops.h>" for root in roots]


def _headers_of_keys(release: Release) -> list[str]:
    """The `#include`s of the functions that operators call without the dispatcher, if they do."""
    keys = (*release.static_keys, *INCLUDED) if release.static_keys else ()
    return [f"#include <ATen/{key}Functions.h>" for key in keys]


def _structs(units: Sequence[Unit], methods: frozenset[str], *, of_operators: bool) -> list[File]:
    """The headers with all structs: they include those of operators, or else the second has the methods of Tensor, and
    the first the other operators."""
    own = [unit for unit in units if unit.name in methods]
    if not of_operators:
        others = [unit for unit in units if unit.name not in methods]
        return [
            _declared("Operators", _STRUCTS, ["#include <ATen/MethodOperators.h>"], others),
            _declared("MethodOperators", _METHODS, [], own),
        ]
    return [
        _declared("Operators", _STRUCTS, _includes(sorted({unit.shard_key for unit in units})), ()),
        _declared("MethodOperators", _METHODS, sorted(_includes({unit.shard_key for unit in own})), ()),
    ]


def _declared(name: str, template: str, includes: list[str], units: Sequence[Unit]) -> File:
    """A header with the structs of these units."""
    holes = {f"{name}_includes": includes, **pieces_in({f"{name}_declarations": DECLARATION})}
    return File(name=f"{name}.h", template=template, holes=holes, units=tuple(unit.name for unit in units))


def _schemas(names: tuple[str, ...], namespaces: Iterable[str], libraries: Sequence[str]) -> File:
    """The registrations, with a block for each of the namespaces other than PyTorch's; `libraries`: those that have
    any. Upstream indents the first registration by spaces, others by a tab, and ends with an empty line."""
    blocks, slots, spaces = [], {"aten_schema_registrations": REGISTRATION}, {}
    for i, namespace in enumerate(namespaces):  # any text may be one
        macro = "TORCH_LIBRARY_FRAGMENT" if namespace in _FRAGMENTS else "TORCH_LIBRARY"
        hole, name = f"registrations_{i}", f"namespace_{i}"
        body = f"${{{hole}}}\n\n" if namespace in libraries else "\n"
        blocks.append(f"\n{macro}(${{{name}}}, m) {{\n{body}}};")
        slots[hole], spaces[name] = library_piece(REGISTRATION, namespace), namespace
    holes = {"schema_registrations": WithHoles("".join(blocks)), **spaces, **pieces_in(slots)}
    return File(name="RegisterSchema.cpp", template=_SCHEMAS, holes=holes, units=names)


def _symbols(functions: Iterable[str], attributes: Iterable[str]) -> File:
    """The names of functions and arguments, for TorchScript."""
    holes = {
        "aten_symbols": _ROWS.join(f"_(aten, {name})" for name in functions if name not in _KEYWORDS),
        "attr_symbols": _ROWS.join(f"_(attr, {name})" for name in attributes),
    }
    return File(name="core/aten_interned_strings.h", template=_SYMBOLS, holes=holes)


DISPATCHER_API = DispatcherApi()
