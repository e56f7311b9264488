"""The functions of files of a set's own, with the texts that a description has for them."""

from __future__ import annotations

from pipeline.families.overrides import FunctionFacts, slots_of
from pipeline.families.own_files.files import OWN_FILES
from pipeline.families.own_files.values import Described
from pipeline.model.layers import listed
from pipeline.model.native import NativeFunction
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.rules.native.groups import complete_groups
from pipeline.specs.layers.description import Family, Text
from pipeline.stages.layered.asking import about_unit, rules_of
from pipeline.stages.layered.marks import all_marked, keys_of, schemas
from pipeline.stages.schemas import all_heads, function
from pipeline.stages.units import unit

FAMILY = OWN_FILES.name


def described(db: Database, name: str) -> Described | None:
    """A function as its texts are rendered from it."""
    native, member, rules = function(db, name), unit(db, FAMILY, name), rules_of(db, FAMILY)
    if native is None or member is None:
        return None
    facts = about_unit(db, member)
    symint = bool(rules.symint) and facts.matches(rules.symint)
    if rules.listed_schemas:
        native = _as_listed(db, name, native)
    return Described(native, facts, texts(db), _wanted(rules, facts), symint, keys_of.item(db, name) or {})


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


def _wanted(rules: Family, facts: FunctionFacts) -> tuple[str, ...]:
    """The names of the texts that slots take of a function."""
    slots = [(rules.file[file].functions if file else "all", slot) for file, _, slot in slots_of(rules)]
    taken = [slot for functions, slot in slots if facts.matches(functions)]
    return tuple(sorted({piece for slot in taken for piece in listed(slot.piece)}))


def places_in(db: Database, order: str) -> dict[str, int]:
    """The place of each function in an order of a file: in that of `marks`, by name, or all variants together."""
    if order == "marks":
        names = all_marked(db)
    elif order == "name":
        names = [name for name, _ in sorted(all_heads(db), key=lambda each: each[1].name)]
    else:
        listed = all_heads(db)
        groups = complete_groups([head for _, head in listed])
        names = [listed[i][0] for group in groups for i in group]
    return {name: place for place, name in reversed(list(enumerate(names)))}
