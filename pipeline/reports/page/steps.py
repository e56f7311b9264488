"""What an edit of an entry makes again: which units, and of these which pieces, and so which files.

Of a formula this is what follows, neither more nor less. Of a schema it is what may follow: what comes out the same as
before is not made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pipeline.families.nodes.files import DEFINITION, NODES
from pipeline.families.table import FAMILIES
from pipeline.query.database import Database
from pipeline.reports.page.model import Placed, Ref, Relations, Step
from pipeline.reports.page.names import node_anchor, safe
from pipeline.reports.page.relations import keys_of, placed, relations, shown_families
from pipeline.rules.derivatives.forward import AUTO_ELEMENT_WISE
from pipeline.stages.derivatives import definition
from pipeline.stages.infos import keyed
from pipeline.stages.match import info, node
from pipeline.stages.schemas import GENERATED, function
from pipeline.stages.units import unit

BACKWARD, FORWARD, SAVED, SCHEMA = "backward formula", "forward formula", "what is saved", "schema"
Layout = tuple[str, int]

_FORMULAS = (DEFINITION, "formula")  # the pieces of Nodes, and parts of them, that have backward formulas
_DESCRIBED = "/"  # in what a description calls the piece of a hole: it may have any of a unit's
_FRAME = "frame"  # has them too, where a release has no source of formulas


def steps_of_entry(db: Database, at: Layout, name: str, entry: str) -> tuple[Step, ...]:
    """What follows from an edit of the derivatives of a function."""
    functions = [each for each in _made_from(db, name) if _is_from(db, each, entry)]
    parsed = definition(db, entry)
    formulas = [formula.formula for _, rows in (parsed.dispatch if parsed else ()) for formula in rows]
    kernels = list(dict.fromkeys(kernel for each in functions for kernel in _kernels(db, each)))
    found = [*_nodes(db, at, functions, BACKWARD, _FORMULAS), *_nodes(db, at, functions, SAVED, ())]
    for edit in (FORWARD, SAVED, *([BACKWARD] if AUTO_ELEMENT_WISE in formulas else [])):
        if edit == SAVED or _has_forward(db, functions):
            for family in filter(_is_of_derivatives, shown_families(db)):
                found += _units(db, at, family, kernels, edit, "definition")
    return tuple(found)


def _is_of_derivatives(family: str) -> bool:
    """Whether what a family prints of a function is what derivatives say."""
    return FAMILIES[family].subject == "derivatives"


def _has_forward(db: Database, names: Iterable[str]) -> bool:
    """Whether functions have forward formulas."""
    infos = (info(db, name, key) for name in names for key in keys_of.item(db, name) or ())
    return any(found.forward_derivatives for found in infos if found is not None)


def _made_from(db: Database, name: str) -> Iterator[str]:
    """A function, and those whose derivatives may be made from its own: its copy, foreach functions."""
    found = relations.item(db, name) or Relations()
    yield from (name, *found.copies, *found.foreach)


def _is_from(db: Database, name: str, entry: str) -> bool:
    rows = (node(db, keyed(name, key)) for key in keys_of.item(db, name) or ())
    return any(row is not None and row.definition == entry for row in rows)


def _kernels(db: Database, name: str) -> Iterator[str]:
    """The functions whose kernels print what a function's derivatives say."""
    yield name
    for served in (relations.item(db, name) or Relations()).serves.values():
        yield from served


def _nodes(db: Database, at: Layout, functions: Iterable[str], edit: str, pieces: tuple[str, ...]) -> Iterator[Step]:
    names = (keyed(name, key) for name in functions for key in keys_of.item(db, name) or ())
    return _units(db, at, NODES.name, names, edit, *pieces)


def _units(db: Database, at: Layout, family: str, names: Iterable[str], edit: str, *pieces: str) -> Iterator[Step]:
    """The steps from an edit to units of a family. `pieces`: how the names of those begin that change; none: all."""
    if family not in shown_families(db):
        return
    for name in names:
        files = placed.item(db, *at, family, name)
        if files is not None:
            yield Step(edit, _ref(db, family, name), family, tuple(_files(files, pieces)))


def _files(files: Sequence[Placed], pieces: tuple[str, ...]) -> Iterator[str]:
    apart = any(piece.startswith(_FORMULAS[-1]) for file in files for piece in file.pieces)
    wanted = (*pieces, _FRAME) if pieces == _FORMULAS and not apart else pieces
    for file in files:
        if not wanted or any(piece.startswith(wanted) or _DESCRIBED in piece for piece in file.pieces):
            yield file.file


def _ref(db: Database, family: str, name: str) -> Ref:
    """Where a unit is shown."""
    found = unit(db, family, name)
    assert found is not None
    of = relations.item(db, found.function) or Relations()
    title = found.title.rpartition("::")[2]
    anchor = node_anchor(title, of.title, found.dispatch_key) if family == NODES.name else safe(f"{family}-{of.title}")
    return Ref(of.page, anchor, found.title)


def steps_of_schema(db: Database, at: Layout, name: str) -> tuple[Step, ...]:
    """What may follow from an edit of the schema of a declared function."""
    if name.startswith(GENERATED) or function(db, name) is None:
        return ()
    served = list(dict.fromkeys(kernel for each in _made_from(db, name) for kernel in _kernels(db, each)))
    found = [*_nodes(db, at, _made_from(db, name), SCHEMA, ())]
    for family in shown_families(db):
        if family != NODES.name:
            found += _units(db, at, family, served if _is_of_derivatives(family) else [name], SCHEMA)
    return tuple(found)
