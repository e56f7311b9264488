"""Rules of a description that match nothing in this release: text that no unit has, functions that do not exist.

Each is a warning: another release, or the vendor's next files, may match it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradmill.families.backend_stubs.files import BACKEND_STUBS
from gradmill.families.described import makes_blocks
from gradmill.families.overrides import REST, applied_rules
from gradmill.families.table import FAMILIES
from gradmill.model.layers import Words
from gradmill.problems.problem import nearest
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.releases import KNOWN, Release, resolve
from gradmill.rules.layers.facts import OF_FUNCTIONS, OF_KEYS
from gradmill.rules.native.heads import qualified
from gradmill.specs.layers.description import Described, Description, Facts, Family, Slot
from gradmill.specs.layers.releases import minor_of
from gradmill.stages.emit import upstream_pieces
from gradmill.stages.kernels import used_keys
from gradmill.stages.layered.keys import missing_lists, unused
from gradmill.stages.layered.overridden_units import about_unit, rules_of
from gradmill.stages.layered.problem import DescriptionProblem, Path
from gradmill.stages.layered.templates import holes, template_texts
from gradmill.stages.requested import families
from gradmill.stages.schemas import all_heads
from gradmill.stages.selection import is_selective
from gradmill.stages.set import asked_families, release, sources, version
from gradmill.stages.specs import keys_of_file
from gradmill.stages.units import unit, units


def unmatched(db: Database, layers: Described) -> Iterator[DescriptionProblem]:
    """The warnings for all rules that match nothing."""
    description = layers.description
    yield from _bounds(layers)
    yield from _facts(db, description)
    if description.backends and not asked_families(db) and BACKEND_STUBS.name not in families(db):
        hint = f'add "{BACKEND_STUBS.name}" to families'
        yield DescriptionProblem(("backend", "0"), "no family reads it", hint, suspected="unused-setting")
    for source in sources(db):
        for key, name, hint in unused(db, source.key, keys_of_file(db, source.key) if source.layer else {}):
            problem = f"no entry has the key '{name}'"
            yield DescriptionProblem((*source.at, *key), problem, hint, name, follows=True, suspected="unmatched-key")
        for name, hint in missing_lists(db, source.key):
            problem = f"the file has no list '{name}'"
            yield DescriptionProblem((*source.at, "list"), problem, hint, name, suspected="unmatched-list")
    for name, rules in description.family.items():
        if description.families and name not in description.families:
            problem, hint = f"`families` does not name {name}", "name it there, or remove the table"
            yield DescriptionProblem(("family", name), problem, hint, suspected="unused-setting")
        if not FAMILIES[name].described:
            problem, hint = f"no description changes {name}", "remove the table; families = […] generates it"
            yield DescriptionProblem(("family", name), problem, hint, suspected="unused-setting")
            continue
        yield from _settings(db, ("family", name), name, rules)
        if name in families(db):
            yield from _rules(db, ("family", name), name, rules)


# ---- rules


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


@query
def empty(db: Database, family: str) -> list[Path]:
    """The paths of lists of names that match no unit."""
    left = {path: of for path, of in _selections(rules_of(db, family)) if isinstance(of, tuple)}
    for each in units(db, family) if left else ():
        about = about_unit(db, each)
        left = {path: of for path, of in left.items() if not about.matches(of)}
        if not left:
            break
    return list(left)


def _selections(rules: Family) -> Iterator[tuple[Path, Words]]:
    """The selections from the units of a family, each with its path in the description."""
    yield ("functions",), rules.functions
    for place, rule in enumerate(rules.replace):
        yield ("replace", str(place), "of"), rule.of
    for at, slots in (((), rules.slots), *((("file", name), own.slots) for name, own in rules.file.items())):
        for hole, slot in slots.items():
            if isinstance(slot, Slot) and not (isinstance(slot.of, str) and REST in slot.of.split()):
                yield (*at, "slots", hole), slot.of


def _rules(db: Database, at: Path, family: str, rules: Family) -> Iterator[DescriptionProblem]:
    if not is_selective(db):  # else a rule may be about functions that are not selected
        yield from _rules_of_units(db, at, family, rules)
    yield from _keys(db, at, family, rules)
    yield from _templates(db, at, family, rules)


def _rules_of_units(db: Database, at: Path, family: str, rules: Family) -> Iterator[DescriptionProblem]:
    """Lists of names and replacements that match no unit. In a family without units, only its own list."""
    none = set(empty(db, family))
    if not units(db, family):
        none &= {("functions",)}
    for path in sorted(none):
        of = dict(_selections(rules))[path]
        if of or path[-1] != "functions":  # an empty list means to select none
            shown = ", ".join(of)
            problem = f"no function of {family} is '{shown}'"
            yield DescriptionProblem(
                (*at, *path),
                problem,
                "choose others, or remove it",
                shown,
                follows=True,
                suspected="unmatched-functions",
            )
    for place in idle(db, family) if units(db, family) else ():
        text = rules.replace[place].from_
        problem = f"nothing that {family} prints has the text"
        hint = "compare it with what is printed (show emit): this release may print something else"
        path = (*at, "replace", str(place), "from")
        yield DescriptionProblem(path, problem, hint, text, follows=True, suspected="unmatched-text")


def _templates(db: Database, at: Path, family: str, rules: Family) -> Iterator[DescriptionProblem]:
    """Holes that no template has, and keys that no template registers anything for."""
    there, texts = sorted(holes(db, family)), template_texts(db, family)
    for hole in [hole for hole in rules.slots if hole not in there]:
        hint = nearest(hole, there) or f"holes: {', '.join(there)}"
        problem = f"no template of {family} has the hole '{hole}'"
        yield DescriptionProblem((*at, "slots", hole), problem, hint, hole, suspected="unmatched-hole")
    if makes_blocks(FAMILIES[family], rules):
        return  # keys generate the blocks, the template has none
    for key in rules.keys:
        if not any(f", {key}, m)" in text for text in texts):
            problem = f"no template of {family} registers anything for '{key}'"
            yield DescriptionProblem(
                (*at, "keys", key), problem, "name a key that an entry has", key, suspected="unmatched-registration"
            )


def _keys(db: Database, at: Path, family: str, rules: Family) -> Iterator[DescriptionProblem]:
    known = used_keys(db) if makes_blocks(FAMILIES[family], rules) else list(rules.keys)
    for key in [key for key in rules.keys if key not in known]:
        problem = f"no derivatives are for '{key}'"
        hint = nearest(key, known) or f"there are {', '.join(known[:5])}"
        yield DescriptionProblem(
            (*at, "keys", key), problem, hint, key, follows=True, suspected="unmatched-dispatch-key"
        )


def _settings(db: Database, at: Path, family: str, rules: Family) -> Iterator[DescriptionProblem]:
    """Settings that change nothing in a family."""
    kind = FAMILIES[family]
    for key, is_set in (("shards", rules.shards), ("everything", not rules.everything)):
        if is_set and not kind.has_shards:
            yield DescriptionProblem((*at, key), f"{family} has no shards", "remove it", suspected="unused-setting")
    if rules.foreach_bindings and kind.unit != "Node":
        yield DescriptionProblem(
            (*at, "foreach_bindings"), "only nodes have bindings", "remove it", suspected="unused-setting"
        )


# ---- facts


def _facts(db: Database, description: Description) -> Iterator[DescriptionProblem]:
    names: set[str] | None = None
    before = resolve(version(db))
    for place, facts in enumerate(description.facts):
        for field, members in facts.add.items():
            if field in OF_FUNCTIONS and names is None:
                names = _names(db)
            for member in members:
                hint = _unknown(db, field, member, names or set())
                if hint is not None:
                    path, what = ("facts", str(place), "add", field), "dispatch key" if field in OF_KEYS else "function"
                    problem = f"there is no {what} '{member}'"
                    yield DescriptionProblem(path, problem, hint, member, follows=True, suspected="unmatched-fact")
        yield from _removed(before, place, facts)


def _unknown(db: Database, field: str, member: str, names: set[str]) -> str | None:
    """A hint for a member of a list of facts that does not exist; None if it exists."""
    if field in OF_FUNCTIONS:
        return None if member in names else nearest(member, sorted(names)) or "name a function of this release"
    known = sorted(release(db).dispatch_keys)
    return None if member in known else nearest(member, known) or "name one, or add it to dispatch_keys"


def _names(db: Database) -> set[str]:
    """All names that lists may use for functions."""
    names: set[str] = set()
    for _, head in all_heads(db):
        names |= {head.name, qualified(head), head.base, head.cpp_name}
    return names


def _removed(before: Release, place: int, facts: Facts) -> Iterator[DescriptionProblem]:
    for field, members in facts.remove.items():
        known = getattr(before, field)  # `wrong_facts` refuses others
        for member in [member for member in members if member not in known]:
            hint = nearest(member, sorted(known)) or "remove it"
            path = ("facts", str(place), "remove", field)
            yield DescriptionProblem(
                path, f"'{field}' has no '{member}' in this release", hint, member, suspected="unmatched-fact"
            )


# ---- releases

_KNOWN = f"known releases: {', '.join(KNOWN)}"


def _bounds(layers: Described) -> Iterator[DescriptionProblem]:
    """Tables that apply to no known release."""
    oldest, newest = minor_of(KNOWN[0]), minor_of(KNOWN[-1])
    for key in [key for key in layers.description.base.releases if minor_of(key) > newest]:
        yield DescriptionProblem(
            ("base", "releases", key), "this release is unknown", _KNOWN, key, suspected="unknown-release"
        )
    for bound in layers.bounds:
        if minor_of(bound.since) > newest or () < minor_of(bound.until) < oldest:
            key = "since" if minor_of(bound.since) > newest else "until"
            problem, needle = "this applies to no known release", getattr(bound, key)
            path = (*bound.at, key)
            yield DescriptionProblem(path, problem, _KNOWN, needle, is_written=True, suspected="unknown-release")
