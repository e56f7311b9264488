"""Family: `python_return_types.h` and `python_return_types.cpp`, the classes of named results in Python.

A unit is a function that returns several named values. Of overloads with the same names, the first has the class.

torchgen: `gen_python_functions.create_python_return_type_bindings`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.families.family import DECLARATION, DEFINITION, REGISTRATION, Family, Layout
from gradmill.families.file import File
from gradmill.families.rows import FAMILY_ROWS
from gradmill.model.native import FunctionNames, FunctionSummary
from gradmill.model.units import Unit
from gradmill.releases.model import Release

HEADER, SOURCE = FAMILY_ROWS["return_types"].templates


class ReturnTypes(Family):
    """Functions by name."""

    name, label = "return_types", "classes of named results"
    subject = "python_names.structseq"
    rendered = (DEFINITION, REGISTRATION, DECLARATION)
    slots = {
        "py_return_types": DEFINITION,
        "py_return_types_registrations": REGISTRATION,
        "py_return_types_declarations": DECLARATION,
    }
    homes = {
        "py_return_types": SOURCE,
        "py_return_types_registrations": SOURCE,
        "py_return_types_declarations": HEADER,
    }

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """The header and the source."""
        return super().files(sorted(units, key=lambda unit: unit.overload.partition(".")[0]), layout, release)

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        """Whether a function has a Python binding that returns named values."""
        from gradmill.rules.native.python_names import is_bound  # few runs have this family
        from gradmill.rules.native.structseqs import returns_structseq

        return returns_structseq(head) and is_bound(head, release)

    def titled(self, names: FunctionNames) -> str:
        return f"return_types.{names.name}"


RETURN_TYPES = ReturnTypes()
