"""What an edit of an entry rebuilds: units, their pieces, and so files.

For a formula the result is exact. For a schema it is an upper bound: units with an unchanged result are reused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gradmill.extensions.browse.page.model import Placed, Ref, Relations, Step
from gradmill.extensions.browse.page.names import node_anchor, unit_anchor
from gradmill.extensions.browse.page.relations import keys_of, placed, relations, shown_families
from gradmill.families.family import DEFINITION, DERIVATIVES
from gradmill.families.nodes import NODES
from gradmill.families.table import FAMILIES
from gradmill.query.database import Database
from gradmill.rules.derivatives.forward import AUTO_ELEMENT_WISE
from gradmill.stages.derivatives import definition
from gradmill.stages.infos import keyed
from gradmill.stages.match import info, node
from gradmill.stages.schemas import GENERATED, function
from gradmill.stages.units import unit, units_of

BACKWARD, FORWARD, SAVED, SCHEMA = "backward formula", "forward formula", "what is saved", "schema"
Layout = tuple[str, int]

_FORMULAS = (DEFINITION, "formula")  # pieces of Nodes, and parts of these, that contain backward formulas
_DESCRIBED = "/"  # in the names of pieces from a description, which may contain any piece of a unit
_FRAME = "frame"  # contains them too, for releases without a source file of formulas


def steps_of_entry(db: Database, at: Layout, name: str, entry: str) -> tuple[Step, ...]:
    """The steps that follow from an edit of a function's derivatives."""
    functions = [each for each in _made_from(db, name) if _is_from(db, each, entry)]
    parsed = definition(db, entry)
    formulas = [formula.formula for _, rows in (parsed.dispatch if parsed else ()) for formula in rows]
    kernels = list(dict.fromkeys(kernel for each in functions for kernel in _kernels(db, each)))
    steps = [*_nodes(db, at, functions, BACKWARD, _FORMULAS), *_nodes(db, at, functions, SAVED, ())]
    for edit in (FORWARD, SAVED, *([BACKWARD] if AUTO_ELEMENT_WISE in formulas else [])):
        if edit == SAVED or _has_forward(db, functions):
            for family in filter(_is_of_derivatives, shown_families(db)):
                steps += _units(db, at, family, kernels, edit, "definition")
    return tuple(steps)


def _is_of_derivatives(family: str) -> bool:
    """Whether derivatives determine what a family generates for a function."""
    return FAMILIES[family].subject == DERIVATIVES


def _has_forward(db: Database, names: Iterable[str]) -> bool:
    infos = (info(db, name, key) for name in names for key in keys_of.item(db, name) or ())
    return any(each.forward_derivatives for each in infos if each is not None)


def _made_from(db: Database, name: str) -> Iterator[str]:
    """A function, and those with derivatives that may be derived from its own: its copy, foreach functions."""
    related = relations.item(db, name) or Relations()
    yield from (name, *related.copies, *related.foreach)


def _is_from(db: Database, name: str, entry: str) -> bool:
    rows = (node(db, keyed(name, key)) for key in keys_of.item(db, name) or ())
    return any(row is not None and row.definition == entry for row in rows)


def _kernels(db: Database, name: str) -> Iterator[str]:
    """The functions with kernels that a function's derivatives determine."""
    yield name
    for served in (relations.item(db, name) or Relations()).serves.values():
        yield from served


def _nodes(db: Database, at: Layout, functions: Iterable[str], edit: str, pieces: tuple[str, ...]) -> Iterator[Step]:
    names = (keyed(name, key) for name in functions for key in keys_of.item(db, name) or ())
    return _units(db, at, NODES.name, names, edit, *pieces)


def _units(db: Database, at: Layout, family: str, names: Iterable[str], edit: str, *pieces: str) -> Iterator[Step]:
    """The steps from an edit to units of a family. `pieces` are prefixes of the changed pieces; none means all."""
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
    shown = unit(db, family, name)
    assert shown is not None
    of = relations.item(db, shown.function) or Relations()
    title = shown.title.rpartition("::")[2]
    anchor = (
        node_anchor(title, of.title, shown.dispatch_key)
        if family == NODES.name
        else unit_anchor(family, shown.title, of.title)
    )
    return Ref(of.page, anchor, shown.title)


def steps_of_schema(db: Database, at: Layout, name: str) -> tuple[Step, ...]:
    """The steps that may follow from an edit of a declared function's schema."""
    if name.startswith(GENERATED) or function(db, name) is None:
        return ()
    served = list(dict.fromkeys(kernel for each in _made_from(db, name) for kernel in _kernels(db, each)))
    steps = [*_nodes(db, at, _made_from(db, name), SCHEMA, ())]
    for family in shown_families(db):
        if family != NODES.name:
            made = served if _is_of_derivatives(family) else units_of(db, family, name)
            steps += _units(db, at, family, made, SCHEMA)
    return tuple(steps)
