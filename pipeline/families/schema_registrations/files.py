"""Family: what the dispatcher and TorchScript know of all operators: their schemas, their names, their tags.

A unit is one function.

torchgen: `gen.get_native_function_schema_registrations`, `gen.compute_registration_declarations`,
`gen.compute_aten_op`, `gen.gen_headers`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from pipeline.families.aten import by_script
from pipeline.families.enum_tag.files import checked_tags
from pipeline.families.family import DECLARATION, REGISTRATION, Family, Layout, library_piece
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.releases.model import Release

SCHEMAS, NAMES = "ATen/RegisterSchema.cpp", "ATen/ATenOpList.cpp"
DECLARATIONS = "ATen/RegistrationDeclarations.h"
SYMBOLS, TAGS = "ATen/aten_interned_strings.h", "ATen/enum_tag.h"
NAME = "name"  # the piece with the operator in the list of names

_ROWS = " \\\n"  # between the lines of a macro
_FRAGMENTS = ("quantized", "quantized_decomposed")  # namespaces with libraries that others define
# Alternative operators of C++ are no identifiers.
_KEYWORDS = frozenset("and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq".split())


class SchemaRegistrations(Family):
    """Functions in the order of parsing."""

    name, label = "schema_registrations", "registered schemas"
    subject = "schema_registration"
    templates, needs = (SCHEMAS, NAMES, DECLARATIONS, SYMBOLS, TAGS), SCHEMAS
    rendered = (REGISTRATION, NAME, DECLARATION)
    slots = {"aten_schema_registrations": REGISTRATION, "aten_ops": NAME, "registration_declarations": DECLARATION}
    homes = {
        "aten_schema_registrations": SCHEMAS,
        "schema_registrations": SCHEMAS,
        "aten_ops": NAMES,
        "registration_declarations": DECLARATIONS,
        "aten_symbols": SYMBOLS,
        "attr_symbols": SYMBOLS,
        "enum_of_valid_tags": TAGS,
    }
    folder, folders = "ATen", ("core",)
    lists = ("symbols", "attributes", "namespaces", "libraries")
    shards_by = "base"
    described = by_default = False
    subsets = {
        "aten": "",
        "headers": ("RegistrationDeclarations", "aten_interned_strings", "enum_tag"),
        "sources": ("RegisterSchema", "ATenOpList"),
    }

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The registrations, lists of names, declarations and tags. SpecError for a tag that is not text."""
        names, lists = tuple(unit.name for unit in units), layout.lists
        symbols = [f"_(aten, {name})" for name in lists["symbols"] if name not in _KEYWORDS]
        attributes = [f"_(attr, {name})" for name in lists["attributes"]]
        sets: dict[str, str | list[str]] = {"aten_symbols": _ROWS.join(symbols), "attr_symbols": _ROWS.join(attributes)}
        listed = [
            _schemas(names, lists["namespaces"], lists["libraries"]),
            File("core/ATenOpList.cpp", NAMES, {}, {"aten_ops": NAME}, names),
            File(
                "RegistrationDeclarations.h",
                DECLARATIONS,
                {},
                {"registration_declarations": DECLARATION},
                names,
                mark="// This file contains all native_functions that can be registered to",
            ),
            File("core/aten_interned_strings.h", SYMBOLS, sets, {}, ()),
            File("core/enum_tag.h", TAGS, {"enum_of_valid_tags": ",\n".join(checked_tags(layout))}, {}, ()),
        ]
        return by_script(listed)

    def owns(self, name: str) -> bool:
        """Whether a file name belongs to the family."""
        return os.path.basename(name) in map(os.path.basename, self.templates)


def _schemas(names: tuple[str, ...], namespaces: Sequence[str], libraries: Sequence[str]) -> File:
    """The registrations, with a block for each of the namespaces other than PyTorch's; `libraries`: those that have
    any. Upstream indents the first registration by spaces, others by a tab, and ends with an empty line."""
    blocks, slots = [], {"aten_schema_registrations": REGISTRATION}
    for namespace in namespaces:
        macro = "TORCH_LIBRARY_FRAGMENT" if namespace in _FRAGMENTS else "TORCH_LIBRARY"
        hole = f"registrations_in_{namespace}"
        body = f"${{{hole}}}\n\n" if namespace in libraries else "\n"
        blocks.append(f"\n{macro}({namespace}, m) {{\n{body}}};")
        slots[hole] = library_piece(REGISTRATION, namespace)
    kept = ("generated_comment", "aten_schema_registrations")
    first = {**{hole: f"${{{hole}}}" for hole in kept}, "schema_registrations": "".join(blocks)}
    return File("RegisterSchema.cpp", SCHEMAS, {}, slots, names, first=first)


SCHEMA_REGISTRATIONS = SchemaRegistrations()
