"""Family: `Declarations.yaml`, all C++ functions of operators as data, for bindings of other languages. A unit is one
function.

torchgen: `gen.gen_declarations_yaml`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.aten import InAten
from gradmill.families.family import DECLARATION, Layout
from gradmill.families.file import File, pieces_in
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release

NAME = "Declarations.yaml"


class Declarations(InAten):
    """Functions in the order of parsing. The file has no template: it is one list."""

    name, label = "declarations", "declarations"
    subject = "schemas.with_origin"
    rendered = (DECLARATION,)
    slots = {"declarations": DECLARATION}
    shards_by = "base"
    known = regex(r"Declarations\.yaml")

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The one file."""
        names = tuple(unit.name for unit in units)
        whole = "${declarations}\n" if names else "[]\n"
        return [
            File(
                name=NAME,
                template="",
                holes=pieces_in(self.slots),
                units=names,
                before=whole,
                head="\n  schema_string: aten::",
            )
        ]


DECLARATIONS = Declarations()
