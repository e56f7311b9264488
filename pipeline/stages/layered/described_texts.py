"""The functions of files of a set's own, with the texts that a description has for them."""

from __future__ import annotations

from msgspec.structs import replace

from pipeline.families.overrides import FunctionFacts, slots_of
from pipeline.families.own_files.files import OWN_FILES
from pipeline.families.own_files.values import Described
from pipeline.model.layers import listed
from pipeline.model.native import NativeFunction
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.rules.native.groups import complete_groups
from pipeline.specs.layers.description import Family, Text
from pipeline.stages.layered.asking import about, about_unit, rules_of
from pipeline.stages.layered.marks import all_marked, keys_of, schemas
from pipeline.stages.schemas import all_heads, function
from pipeline.stages.units import unit, units

FAMILY = OWN_FILES.name


def described(db: Database, name: str) -> Described | None:
    """A function as its texts are rendered from it."""
    own = _described(db, name) if unit(db, FAMILY, name) is not None else None
    if own is None:
        return None
    functional, out = (_described(db, variant) for variant in variants.item(db, name) or (name, name))
    group = (functional, out) if functional is not None and out is not None else None
    return replace(own, wanted=_wanted(rules_of(db, FAMILY), own.facts), group=group)


def _described(db: Database, name: str) -> Described | None:
    native, facts, rules = function(db, name), about.item(db, name), rules_of(db, FAMILY)
    if native is None or facts is None:
        return None
    symint = bool(rules.symint) and facts.matches(rules.symint)
    if rules.listed_schemas:
        native = _as_listed(db, name, native)
    return Described(native, facts, texts(db), symint, keys_of.item(db, name) or {})


@query
def _grouped(db: Database) -> list[list[str]]:
    """All functions by group, in upstream's order; functions without a functional and an out variant are alone."""
    listed = all_heads(db)
    return [[listed[i][0] for i in group] for group in complete_groups([head for _, head in listed])]


@table
def variants(db: Database) -> dict[str, tuple[str, str]]:
    """The functional and the out variant of each function that has both."""
    return {name: (group[0], group[1]) for group in _grouped(db) if len(group) > 1 for name in group}


def _as_listed(db: Database, name: str, native: NativeFunction) -> NativeFunction:
    """A function with the schema that a list gives it, which decides its types alone."""
    schema = schemas.item(db, name)
    if schema is None:
        return native
    keys = keys_of.item(db, name) or {}
    return NativeFunction(
        schema,
        native.namespace,
        dispatch=native.dispatch,
        structured="structured" in keys,
        structured_delegate=keys.get("structured_delegate"),
        device_guard=native.device_guard,
        device_check=native.device_check,
    )


@query
def texts(db: Database) -> dict[str, tuple[Text, ...]]:
    """The texts of the description by name, each with its alternatives."""
    listed = rules_of(db, FAMILY).text.items()
    return {name: (each,) if isinstance(each, Text) else each for name, each in listed}


@query
def without_symint(db: Database) -> list[str]:
    """The operators that `symint` names, or has in a list, although their schemas have no SymInt. Other selections, as
    `all`, are about more functions than those; schemas of lists may have SymInt where functions have none."""
    rules = rules_of(db, FAMILY)
    if rules.listed_schemas or not (isinstance(rules.symint, tuple) or rules.symint.startswith("in:")):
        return []
    selected = [about_unit(db, each) for each in units(db, FAMILY)]
    return [each.operator for each in selected if each.matches(rules.symint) and not each.matches("symint")]


def _wanted(rules: Family, facts: FunctionFacts) -> tuple[str, ...]:
    """The names of the texts that slots take of a function."""
    slots = [(rules.file[file].functions if file else "all", slot) for file, _, slot in slots_of(rules)]
    taken = [slot for functions, slot in slots if facts.matches(functions)]
    return tuple(sorted({piece for slot in taken for piece in listed(slot.piece)}))


def places_in(db: Database, order: str) -> dict[str, int]:
    """The place of each function in an order of a file: in that of `marks`, by name, or all variants together."""
    if order.endswith("marks"):
        names = all_marked(db)
        if order != "marks":
            groups = {name: group for group in _grouped(db) for name in group}
            names = [each for name in names for each in groups[name]]
    elif order == "name":
        names = [name for name, _ in sorted(all_heads(db), key=lambda each: each[1].name)]
    else:
        names = [name for group in _grouped(db) for name in group]
    return {name: place for place, name in reversed(list(enumerate(names)))}
