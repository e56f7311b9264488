"""The text overrides of a set of layers: the facts of functions that a description selects by, overridden units, and
what is changed in templates."""

from collections.abc import Mapping

from msgspec.structs import replace

from gradmill.families.described import stands_apart, with_libraries
from gradmill.families.family import ATEN
from gradmill.families.file import File
from gradmill.families.overrides import FunctionFacts, elsewhere, replaced, slots
from gradmill.families.table import FAMILIES
from gradmill.families.template import GAP, Template
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.specs.layers.description import Description, Family
from gradmill.specs.layers.reading import unknown
from gradmill.stages.layered.marks import words_of
from gradmill.stages.match import all_pairs
from gradmill.stages.schemas import all_heads
from gradmill.stages.set import described, own_templates


@table
def about(db: Database) -> dict[str, FunctionFacts]:
    """The facts of each function that a description may select by."""
    differentiated = {pair.function for pair in all_pairs(db) if pair.source}
    facts = {}
    kernels: dict[str, str] = {}
    for name, head in all_heads(db):
        kernel = "_".join(filter(None, (head.cpp_name, head.name.partition(".")[2])))
        is_first = kernels.setdefault(kernel, head.namespace) == head.namespace
        words = (*(words_of.item(db, name) or ()), *(["defined"] if name in differentiated else []))
        facts[name] = FunctionFacts(head.name, head.base, head.namespace, words, "" if is_first else kernel)
    return facts


@query
def namespaces(db: Database) -> list[str]:
    """The namespaces of all functions: PyTorch's, then the others by name."""
    return [ATEN, *sorted({head.namespace for _, head in all_heads(db)} - {ATEN})]


@query
def rules_of(db: Database, family: str) -> Family:
    """The description's rules for a family; empty ones if it has none."""
    layers = described(db)
    description = Description() if layers is None else layers.description
    rules = description.family.get(family, Family())
    return rules if rules.comment else replace(rules, comment=description.comment)


def about_unit(db: Database, unit: Unit) -> FunctionFacts:
    """The facts of a unit's function that a description may select by."""
    return about.item(db, unit.function) or FunctionFacts(unit.overload, unit.overload.partition(".")[0], ATEN, ())


def replaced_pieces(db: Database, family: str, unit: Unit, pieces: Mapping[str, str]) -> dict[str, str]:
    """The pieces of a unit after the description's replacements, which hooks change."""
    return replaced(FAMILIES[family], pieces, rules_of(db, family), about_unit(db, unit))[0]


def with_slots(db: Database, family: str, unit: Unit, pieces: Mapping[str, str]) -> dict[str, str]:
    """The pieces of a unit as they are printed, with those for the description's slots."""
    rules, facts = rules_of(db, family), about_unit(db, unit)
    apart = stands_apart(FAMILIES[family], rules, own_templates(db, family))
    own = {**pieces, **dict(slots(pieces, rules, facts)), **(elsewhere(pieces, facts) if apart else {})}
    return {piece: text.replace(GAP, "") for piece, text in own.items()}


def edited(db: Database, file: File, text: str) -> str:
    """The text of a file's template with what the description changes in it. SpecError if it lacks a hole that the
    description fills."""
    rules, own = rules_of(db, file.family), own_templates(db, file.family)
    text = with_libraries(text, file, FAMILIES[file.family])
    known = sorted(Template(text).names)
    for name, each in rules.file.items():
        for hole in each.slots if own.get(name, name) == file.template else ():
            path, hint = ("family", file.family, "file", name, "slots", hole), f"its holes: {', '.join(known)}"
            for error in unknown(path, "the template has no hole '{}'", hole, known, hint):
                error.role = "set"
                raise error
    return text
