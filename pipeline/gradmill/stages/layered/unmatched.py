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
from gradmill.model.regex import regex
from gradmill.problems.problem import nearest
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.releases import KNOWN, Release, resolve
from gradmill.rules.layers.facts import is_collection
from gradmill.rules.native.heads import qualified
from gradmill.specs.layers.description import Described, Description, Facts, Family, Slot
from gradmill.specs.layers.releases import minor_of
from gradmill.stages.emit import upstream_pieces
from gradmill.stages.kernels import used_keys
from gradmill.stages.layered.asking import about_unit, rules_of
from gradmill.stages.layered.keys import missing_lists, unused
from gradmill.stages.layered.problem import DescriptionProblem, Path
from gradmill.stages.layered.templates import holes, template_texts
from gradmill.stages.requested import families
from gradmill.stages.schemas import all_heads
from gradmill.stages.selection import is_selective
from gradmill.stages.set import asked_families, release, sources, version
from gradmill.stages.specs import keys_of_file
from gradmill.stages.tags import tags
from gradmill.stages.units import unit, units

# Lists of facts with functions as members: operators, base names or C++ names.
_OF_FUNCTIONS = (
    *("functional_without_out", "mutable_without_out", "out_without_functional", "inplace_ungrouped"),
    *("complex_differentiable", "undifferentiable", "views", "metadata_views", "made_of_views", "untold_views"),
    *("manual_kernels", "manual_backend", "resets_accumulator", "replacing_tensors"),
    *("sharing_tensors", "sharing_storage", "foreach_without_derivatives", "foreach_of_other_arity"),
    *("foreach_inplace_reference", "foreach_tensor_overload", "foreach_skip_length"),
    *("unrecorded", "recorded_as"),
)
_FIELDS = frozenset(Release.__struct_fields__)
_OF_KEYS = ("kernel_keys", "autograd_keys", "structured_keys", "ufunc_keys")
_IN_SCHEMAS = ("base_types", "cpp_defaults", "unrecorded_types", "unbound_schemas")  # their members are text of schemas


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
            if field in _OF_FUNCTIONS and names is None:
                names = _names(db)
            for member in members:
                hint = _unknown(db, field, member, names or set())
                if hint is not None:
                    path = ("facts", str(place), "add", field)
                    problem = f"{_WHAT.get(field, 'there is no function')} '{member}'"
                    yield DescriptionProblem(path, problem, hint, member, follows=True, suspected="unmatched-fact")
        yield from _removed(before, place, facts)


_WHAT = {
    **dict.fromkeys(_OF_KEYS, "there is no dispatch key"),
    **dict.fromkeys(_IN_SCHEMAS, "no schema has"),
    "automatic_tags": "there is no tag",
    "variants_from": "no function is",
    "unbound": "no function is called",
    "seeded_exempt": "no function is called",
    "keyword_arguments": "no function has the argument",
}


def _unknown(db: Database, field: str, member: str, names: set[str]) -> str | None:
    """A hint for a member of a list of facts that does not exist; None if it exists."""
    if field in _OF_FUNCTIONS:
        return None if member in names else nearest(member, sorted(names)) or "name a function of this release"
    if field in _OF_KEYS:
        known = sorted(release(db).dispatch_keys)
        return None if member in known else nearest(member, known) or "name one, or add it to dispatch_keys"
    if field == "automatic_tags":
        return None if member in tags(db) else nearest(member, tags(db)) or "name a tag of tags.yaml"
    if field == "variants_from":
        kinds = ("functional", "inplace", "mutable", "out")
        return None if member in kinds else nearest(member, kinds) or f"write {', '.join(kinds)}"
    schemas = [head.schema for _, head in all_heads(db)] if field in _IN_SCHEMAS else []
    if field in _IN_SCHEMAS:
        return None if any(member in schema for schema in schemas) else "name one of this release"
    if field == "unbound":
        matches = (regex(member).fullmatch(head.cpp_name) is not None for _, head in all_heads(db))
        return None if any(matches) else "name one of this release"
    if field in ("seeded_exempt", "keyword_arguments"):
        base, _, argument = member.partition(".") if field == "keyword_arguments" else (member, "", "")
        matches = (base in head.name and f" {argument}" in head.schema for _, head in all_heads(db))
        return None if any(matches) else "name one of this release"
    return None  # members of other lists are not checked


def _names(db: Database) -> set[str]:
    """All names that lists may use for functions."""
    names: set[str] = set()
    for _, head in all_heads(db):
        names |= {head.name, qualified(head), head.base, head.cpp_name}
    return names


def _removed(before: Release, place: int, facts: Facts) -> Iterator[DescriptionProblem]:
    for field, members in facts.remove.items():
        known = getattr(before, field) if field in _FIELDS and is_collection(field) else members
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
