"""Family: VariableType, the autograd kernels of all functions. A unit is one function.

Upstream first fills its template with holes for each dispatch key that derivatives are defined for. It also writes this
intermediate template: `templates/VariableType.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.families.family import (
    ATEN,
    DEFINITION,
    DERIVATIVES,
    REGISTRATION,
    Layout,
    Registered,
    comment_of_script,
    library_piece,
)
from gradmill.families.file import Content, File, Pieces, WithHoles
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.sharded import Sharded
from gradmill.model.units import Unit
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

HEADER, TEMPLATE = FAMILY_ROWS["variable_type"].templates
INTERMEDIATE = f"templates/{TEMPLATE}"

_DEFINITIONS, _REGISTRATIONS = "type_derived_method_definitions", "wrapper_registrations"


def definition_of(key: str) -> str:
    """The name of the piece with the kernel for a dispatch key."""
    return f"{DEFINITION} {key}"


def registration_of(key: str) -> str:
    """The name of the piece that registers this kernel."""
    return f"{REGISTRATION} {key}"


class VariableType(Sharded):
    """Functions by C++ name."""

    name, label = "variable_type", "VariableType kernels"
    unit, subject = "kernel", DERIVATIVES
    rendered = (DEFINITION, REGISTRATION)  # of each dispatch key
    kernel, has_formulas = "VariableType", True
    folders = ("templates",)
    shards_by = "cpp_name"
    registered = Registered(TEMPLATE, _REGISTRATIONS, by_key=True)

    def shard_count(self, release: Release) -> int:
        return release.variable_type_shards

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The header, the intermediate template, the shards, and the file with all kernels, which no build compiles.

        A template with described slots is filled once. Otherwise it has holes for the keys of derivatives. Raises
        SpecError for a kernel that is for none of these keys, as torchgen.utils.FileManager does.
        """
        members = self.shards(units, layout, release)
        split = layout.name == "split"
        declared = tuple(unit.name for unit in units) if layout.fills(HEADER) else ()
        header = File(name=HEADER, template=HEADER, holes={}, units=declared)
        if layout.fills(TEMPLATE):
            holes: dict[str, Content] = {
                _DEFINITIONS: Pieces(definition_of(DEFAULT_KEY), origin=split and DEFAULT_KEY in layout.keys),
                _REGISTRATIONS: Pieces(registration_of(DEFAULT_KEY)),
            }
            return [header, *(_source(shard, names, {**holes, "shard_id": shard}) for shard, names in members.items())]
        if layout.underived:
            raise SpecError(
                f"no derivatives are for {DEFAULT_KEY}: {TEMPLATE} has no place for functions without derivatives",
                f"define a derivative for {DEFAULT_KEY}, or leave variable_type out",
            )
        comment, texts = comment_of_script(release.generator, TEMPLATE), _first_pass(layout)
        intermediate = File(name=INTERMEDIATE, template=TEMPLATE, holes={"generated_comment": comment, **texts})
        holes = {
            "generated_comment": comment,
            **{hole: WithHoles(text) for hole, text in texts.items()},
            **_pieces(layout, origin=split),
        }
        return [header, intermediate, *(_source(shard, names, holes) for shard, names in members.items())]

    def owns(self, name: str) -> bool:
        return name in (HEADER, INTERMEDIATE) or super().owns(name)


def _first_pass(layout: Layout) -> dict[str, str]:
    """The values for the holes of the template: text with a hole for each key and library."""
    blocks = (_library(library, key, layout) for library in layout.libraries for key in layout.keys)
    return {
        _DEFINITIONS: "\n\n".join(f"${{{_DEFINITIONS}_{key}}}" for key in layout.keys),
        _REGISTRATIONS: "\n\n".join(blocks),
    }


def _library(library: str, key: str, layout: Layout) -> str:
    called = layout.registered.get(key) or ("Autograd" if key == DEFAULT_KEY else key)
    return f"TORCH_LIBRARY_IMPL({library}, {called}, m) {{\n${{{_registrations(library, key)}}}\n}}"


def _registrations(library: str, key: str) -> str:
    """The hole for a library's registrations for a key. Those of PyTorch's library have upstream's names."""
    return f"{_REGISTRATIONS}_{key}" if library == ATEN else f"{_REGISTRATIONS}_{library}_{key}"


def _pieces(layout: Layout, *, origin: bool) -> dict[str, Content]:
    holes: dict[str, Content] = {}
    for key in layout.keys:
        holes[f"{_DEFINITIONS}_{key}"] = Pieces(definition_of(key), origin=origin)
        for library in layout.libraries:
            holes[_registrations(library, key)] = Pieces(library_piece(registration_of(key), library))
    return holes


def _source(shard: str, names: tuple[str, ...], holes: dict[str, Content]) -> File:
    return File(name=f"VariableType{shard}.cpp", template=TEMPLATE, holes=holes, units=names, shard=shard)


VARIABLE_TYPE = VariableType()
