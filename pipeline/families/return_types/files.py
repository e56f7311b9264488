"""Family: `python_return_types.h` and `python_return_types.cpp`, the classes of named results in Python.

A unit is a function that returns several named values. Of overloads with the same names, the first has the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.families.family import Family, Layout
from pipeline.families.file import File
from pipeline.model.native import FunctionHead
from pipeline.model.units import Unit
from pipeline.releases.model import Release

if TYPE_CHECKING:
    from pipeline.model.structseqs import Structseq

FILES = HEADER, SOURCE = "python_return_types.h", "python_return_types.cpp"
PIECES = DEFINITION, REGISTRATION, DECLARATION = "definition", "registration", "declaration"

_SLOTS = {
    "py_return_types": DEFINITION,
    "py_return_types_registrations": REGISTRATION,
    "py_return_types_declarations": DECLARATION,
}


def files(functions: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
    """The header and the source, with functions by name. Each template has some of the holes."""
    ordered = sorted(functions, key=lambda unit: unit.op.partition(".")[0])
    return [File(name, name, {}, dict(_SLOTS), tuple(unit.name for unit in ordered)) for name in FILES]


def selects(head: FunctionHead, release: Release) -> bool:
    """Whether a function has a Python binding that returns named values."""
    from pipeline.rules.native.python_names import is_bound  # few runs have this family
    from pipeline.rules.native.structseqs import returns_structseq

    return returns_structseq(head) and is_bound(head, release)


def plan(structseq: Structseq, release: Release) -> Structseq:
    """The class. Raises SpecError if it has a field without a name."""
    from pipeline.rules.native.structseqs import all_named

    all_named(structseq.fields)
    return structseq


def render(plan: Structseq, release: Release) -> dict[str, str]:
    """The pieces of its text, by name."""
    from pipeline.families.return_types import text  # only rendering needs it

    return text.pieces(plan, release)


RETURN_TYPES = Family(
    "return_types",
    "classes of named results",
    "function",
    "structseq",
    plan,
    render,
    files,
    FILES.__contains__,
    PIECES,
    templates=FILES,
    subsets={"pybindings": ""},
    by_default=False,
    needs=SOURCE,
    selects=selects,
    homes=dict(zip(_SLOTS, (SOURCE, SOURCE, HEADER))),
    titled=lambda names: f"return_types.{names.name}",
)
