"""Rules of a description that match nothing in this release: text that no unit has, functions that do not exist.

Each is a warning: another release, or the vendor's next files, may match it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from gradmill.families.family import Layout
from gradmill.families.overrides import applied_rules
from gradmill.families.table import FAMILIES
from gradmill.families.template import Template, template_text
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.rules.layers.facts import OF_FUNCTIONS
from gradmill.rules.native.heads import qualified
from gradmill.specs.layers.description import Described, Description, Family
from gradmill.specs.layers.reading import Diagnostic, Path
from gradmill.stages.emit import upstream_pieces
from gradmill.stages.layered.keys import unused
from gradmill.stages.layered.overridden_units import about_unit, rules_of
from gradmill.stages.requested import families
from gradmill.stages.schemas import all_heads
from gradmill.stages.selection import is_selective
from gradmill.stages.set import own_templates, release, sources, spec_set, template_label
from gradmill.stages.specs import keys_of_file
from gradmill.stages.units import unit, units


def unmatched(db: Database, layers: Described) -> Iterator[Diagnostic]:
    """The warnings for all rules that match nothing."""
    yield from _facts(db, layers.description)
    for source in sources(db):
        yield from unused(db, source.key, keys_of_file(db, source.key) if source.layer else {})
    for name, rules in layers.description.family.items():
        if name in families(db):
            yield from _rules(db, ("family", name), name, rules)


@query
def touched_by(db: Database, family: str, name: str) -> list[int]:
    """The replacements that change a unit, by place; all of them if its text cannot be generated."""
    rules, member, pieces = rules_of(db, family), unit(db, family, name), upstream_pieces(db, family, name)
    if member is None or not pieces:
        return [*range(len(rules.replace))]
    return applied_rules(FAMILIES[family], pieces, rules, about_unit(db, member))


@query
def idle(db: Database, family: str) -> list[int]:
    """The replacements that change no unit although they select some: of those that select none, none is expected to.
    The search stops once each has changed one."""
    left, selecting = dict(enumerate(rules_of(db, family).replace)), set()
    for each in units(db, family) if left else ():
        about = about_unit(db, each)
        own = {place for place, rule in left.items() if about.matches(rule.of)}
        selecting |= own
        if own:
            for place in touched_by(db, family, each.name):
                left.pop(place, None)
        if not left:
            break
    return [place for place in left if place in selecting]


def _rules(db: Database, at: Path, family: str, rules: Family) -> Iterator[Diagnostic]:
    for place in idle(db, family) if not is_selective(db) else ():  # else a rule may be about others
        text = rules.replace[place].from_
        problem = f"nothing that {family} prints has the text"
        hint = "compare it with what is printed (show emit): this release may print something else"
        path = (*at, "replace", str(place), "from")
        yield Diagnostic(path, problem, hint, text, follows=True, suspected="unmatched-text")
    there = sorted(_holes(db, family, rules))
    for hole in [hole for hole in rules.slots if hole not in there]:
        hint = nearest(hole, there) or f"holes: {', '.join(there)}"
        problem = f"no template of {family} has the hole '{hole}'"
        yield Diagnostic((*at, "slots", hole), problem, hint, hole, suspected="unmatched-hole")


def _holes(db: Database, family: str, rules: Family) -> set[str]:
    """The holes of all templates of a family, of PyTorch's files and the set's own."""
    own, known = own_templates(db, family), spec_set(db).templates
    names = [*(file.made_of for file in FAMILIES[family].files([], Layout(), release(db))), *rules.file]
    labels = [label for label in {own.get(name, name) for name in names} if label in known or label in own.values()]
    with suppress(SpecError):  # the stage `shard` reports it
        return {
            hole for label in labels for hole in Template(template_text(db.input(template_label(label)) or b"")).names
        }
    return {*rules.slots}


def _facts(db: Database, description: Description) -> Iterator[Diagnostic]:
    """Members of lists that this release does not have."""
    names = {name for _, head in all_heads(db) for name in (head.name, qualified(head), head.base, head.cpp_name)}
    kinds = {True: ("function", names), False: ("dispatch key", release(db).dispatch_keys)}
    for place, facts in enumerate(description.facts):
        for field, members in facts.add.items():
            what, known = kinds[field in OF_FUNCTIONS]
            for member in [member for member in members if member not in known]:
                path = ("facts", str(place), "add", field)
                problem, hint = f"there is no {what} '{member}'", nearest(member, sorted(known)) or "name another"
                yield Diagnostic(path, problem, hint, member, follows=True, suspected="unmatched-fact")
