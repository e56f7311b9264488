"""Checks of a description beyond its form. What it reads or prints must exist, and its own words must be known. A
function, tag or key that it only selects or changes may be missing: that is a warning, as is a rule that matches
nothing in this release, since another one, or the vendor's next files, may match it.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from gradmill.families.family import Layout
from gradmill.families.overrides import CALLS, REST, WORDS, FunctionFacts, replaced
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.table import FAMILIES
from gradmill.model.layers import Words, listed
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.rules.layers.facts import LISTS, OF_FUNCTIONS, TABLES
from gradmill.rules.layers.keys import settled
from gradmill.rules.native.heads import qualified
from gradmill.specs.layers.description import TAKE, Description, Family, OutputFile, Slot
from gradmill.specs.layers.reading import Path, error_at, unknown
from gradmill.stages.added import added
from gradmill.stages.emit import upstream_pieces
from gradmill.stages.layered.keys import report
from gradmill.stages.layered.marks import KINDS, base_names, functions, known_names, marks
from gradmill.stages.layered.overridden_units import about_unit, rules_of
from gradmill.stages.layered.own_kernels import own_kernels
from gradmill.stages.requested import families, lacking
from gradmill.stages.schemas import all_heads, function
from gradmill.stages.selection import is_selective
from gradmill.stages.set import asked_families, described, own_templates, release, sources
from gradmill.stages.specs import keys_of_file
from gradmill.stages.templates import holes_of
from gradmill.stages.units import unit, units


@query
def checked(db: Database) -> bool:
    """Whether a set has a description. Reports the errors of the description."""
    layers = described(db)
    if layers is None:
        return False
    if layers.description.marks:
        db.digest(marks)  # which reports errors, also of lists that no selection reads
    problems = list(_problems(db, layers.description))
    if all(each.rule for each in problems):  # an erroneous rule may also match nothing
        reported = {each.field for each in problems}
        for name in [name for name in layers.description.family if name in families(db)]:
            problems += [each for each in _unmatched_rules(db, name) if each.field not in reported]
        problems += own_kernels(db)
    for each in problems:
        report(db, each)
    return True


def _problems(db: Database, description: Description) -> Iterator[SpecError]:
    yield from _check_facts(db, description)
    for source in sources(db):
        yield from settled(source, keys_of_file(db, source.key))[1] if source.layer else ()
    known = base_names(db)  # none if the file is no YAML
    for place, rewrite in enumerate(description.base.rewrite if known else ()):
        hint = "name an operator with its overload, as in add.Tensor"
        path = ("base", "rewrite", str(place), "func")
        yield from unknown(path, "the base has no function '{}'", rewrite.func, known, hint, rule="unmatched-entry")
    for word in listed(description.functions.take):
        yield from _check_word(db, ("functions", "take"), word, TAKE)
    yield from _check_selection(db, ("functions", "exclude"), listed(description.functions.exclude))
    yield from _check_text(("comment",), description.comment, ("template",))
    for name in description.families:
        yield from _check_family(db, ("families",), name, generated=True)
    for place, ignore in enumerate(description.ignore):
        from gradmill.problems.catalog.table import RULES  # only some descriptions need it

        problem, hint = "no rule is called '{}'", "gradmill rule lists all"
        yield from unknown(("ignore", str(place), "rule"), problem, ignore.rule, RULES, hint)
    for name, rules in description.family.items():
        at = ("family", name)
        yield from _check_family(db, at, name, generated=not description.families)
        yield from _check_rules(db, at, name, rules) if name in FAMILIES else ()


def _check_facts(db: Database, description: Description) -> Iterator[SpecError]:
    """Reports unknown lists, members in another form or that this release does not have, and views of arguments that
    their functions lack. A view of a missing function may be another release's."""
    heads, keys = [head for _, head in all_heads(db)], sorted(release(db).dispatch_keys)
    names = sorted({name for head in heads for name in (head.name, qualified(head), head.base, head.cpp_name)})
    for place, facts in enumerate(description.facts):
        for field, members in facts.add.items():
            at = ("facts", str(place), "add", field)
            yield from unknown(at, "there is no list of facts '{}'", field, LISTS, "docs/vendors.md lists them")
            if field in LISTS and isinstance(members, dict) != (field in TABLES):
                hint = "write {name = value}" if field in TABLES else 'write ["name", …]'
                yield error_at(at, f"'{field}' is added to in another form", hint, field)
            what, existing = ("function", names) if field in OF_FUNCTIONS else ("dispatch key", keys)
            for member in members:
                yield from unknown(at, f"there is no {what} '{{}}'", member, existing, "name another", "unmatched-fact")
            for base, argument in members.items() if isinstance(members, dict) and field == "views" else ():
                natives = [function(db, name) for name, head in all_heads(db) if head.base == base]
                known = sorted({each.name for native in natives if native is not None for each in native.func.inputs})
                problem = f"'{base}' has no argument '{{}}'"
                yield from unknown((*at, base), problem, argument, known) if known else ()


def _check_family(db: Database, path: Path, name: str, *, generated: bool) -> Iterator[SpecError]:
    """Reports an unknown family, and among those to generate one that yields no file, unless the command line names
    others."""
    yield from unknown(path, "there is no family '{}'", name, FAMILIES)
    if name not in FAMILIES or not generated or asked_families(db):
        return
    if (source := FAMILY_ROWS[name].source) and not added(db, source):
        hint = f"leave {name} out, or also write {source}=PATH"
        yield error_at(path, f"there are no {source}", hint, name)
    elif missing := lacking(db, name):
        problem = f"'{name}' is made from {missing}, which the spec set does not have"
        yield error_at(path, problem, f"leave {name} out, add it, or name a base that has it", name)


_MOST = 20  # names in a hint


def _check_selection(db: Database, path: Path, of: Words, words: Sequence[str] = WORDS) -> Iterator[SpecError]:
    """Reports unknown words of a selection, or unknown names of functions in one that is a list."""
    for word in of.split() if isinstance(of, str) else ():
        yield from _check_word(db, path, word, words)
    for name in of if isinstance(of, tuple) else ():
        known, hint = functions(db), "name an operator with its overload, as in add.Tensor"
        problem, rule = "there is no function '{}'", "unmatched-functions"
        yield from unknown(path, problem, name, known, hint, rule=rule)


def _check_word(db: Database, path: Path, word: str, words: Sequence[str]) -> Iterator[SpecError]:
    kind, colon, name = word.partition(":")
    if not colon or kind not in KINDS:
        known = ", ".join((*words, *(f"{kind}:NAME" for kind in KINDS)))
        hint = f"words: {known}; or write a list of names, or a hook"
        yield from unknown(path, "no function is '{}'", word, words, hint)
        return
    names = known_names(db, kind)
    problem, hint = f"there is no {kind} '{name}'", f"{kind}s: {', '.join(names[:_MOST])}"
    known_words, rule = [f"{kind}:{each}" for each in names], "" if kind == "layer" else "unmatched-functions"
    yield from unknown(path, problem, word.partition("=")[0], known_words, hint, rule=rule)


def _check_rules(db: Database, at: Path, name: str, rules: Family) -> Iterator[SpecError]:
    yield from _check_selection(db, (*at, "functions"), rules.functions)
    for place, rule in enumerate(rules.replace):
        path = (*at, "replace", str(place))
        yield from _check_selection(db, (*path, "of"), rule.of)
        yield from (*_check_text((*path, "from"), rule.from_), *_check_text((*path, "to"), rule.to))
    keys = sorted(key for key in release(db).dispatch_keys if key.startswith("Autograd"))
    for key, other in rules.keys.items():
        for each, known in ((key, ["Default", *keys]), (other, keys)):
            problem, hint = "'{}' is not a dispatch key of autograd", "write a key such as AutogradPrivateUse1"
            yield from unknown((*at, "keys", key), problem, each, known, hint)
    upstreams = [file.made_of for file in FAMILIES[name].files([], Layout(), release(db))]
    for file in rules.files:
        known = list(dict.fromkeys((*upstreams, *rules.file)))
        hint = f"{name} has {', '.join(known)}"
        yield from unknown((*at, "files"), f"no file of {name} is made of '{{}}'", file, known, hint)
    of_all = OutputFile(comment=rules.comment, slots=rules.slots)
    for path, own in ((at, of_all), *(((*at, "file", file), own) for file, own in rules.file.items())):
        yield from _check_text((*path, "comment"), own.comment, ("template",))
        yield from _check_slots(db, (*path, "slots"), name, own)


_HOLE = regex(r"\$\{(\w*)\}")
_NAMES = tuple(FunctionFacts("", "", "", ()).names)


def _check_text(path: Path, text: str, names: tuple[str, ...] = _NAMES) -> Iterator[SpecError]:
    """The errors for names `${…}` in a text that are not among `names`."""
    known = [f"${{{name}}}" for name in names]
    for name in dict.fromkeys(_HOLE.findall(text)):
        yield from unknown(path, "'{}' is unknown here", f"${{{name}}}", known, f"names: {', '.join(known)}")


def _check_slots(db: Database, at: Path, family: str, own: OutputFile) -> Iterator[SpecError]:
    for hole, setting in own.slots.items():
        slot, path = (Slot(setting) if isinstance(setting, str) else setting), (*at, hole)
        if bool(slot.piece) == (slot.text is not None) and setting != "":
            yield error_at(path, "a slot has a piece or a text", 'write piece = "…" or text = "…"', hole)
        if slot.piece:
            piece, known = slot.piece.partition(" ")[0], FAMILIES[family].pieces
            yield from unknown(path, f"'{family}' has no piece '{{}}'", piece, known)
        yield from _check_selection(db, path, slot.of, (*WORDS, REST))
        yield from _check_text(path, slot.before + slot.after)
        if not own.raw and (slot.before or slot.after or slot.between != "\n"):
            hint = "write raw = true for the file; of other files, a hook puts text around pieces"
            yield error_at(path, "before, after and between are for raw files", hint, hole)


@query
def touched_by(db: Database, family: str, name: str) -> list[int]:
    """The replacements that change a unit, by place; all of them if its text cannot be generated."""
    rules, member, pieces = rules_of(db, family), unit(db, family, name), upstream_pieces(db, family, name)
    if member is None or not pieces:
        return [*range(len(rules.replace))]
    return replaced(FAMILIES[family], pieces, rules, about_unit(db, member))[1]


@query
def idle(db: Database, family: str) -> list[int]:
    """The replacements that change no unit although they select some: of those that select none, none is expected to.
    The first of each call is right if one of any call is: which there are depends on arguments. The search stops once
    each has changed one."""
    rules = rules_of(db, family).replace
    firsts = {rule.from_: place for place, rule in reversed([*enumerate(rules)])}
    of_calls = {place for text, place in firsts.items() if text in CALLS}
    selecting: set[int] = set()
    changing: set[int] = set()
    for each in units(db, family) if rules else ():
        about = about_unit(db, each)
        own = {place for place, rule in enumerate(rules) if place not in changing and about.matches(rule.of)}
        selecting |= own
        changing.update(touched_by(db, family, each.name) if own else ())
        changing |= set() if changing.isdisjoint(of_calls) else of_calls
        if len(changing) == len(rules):
            break
    return sorted(selecting - changing)


def _unmatched_rules(db: Database, family: str) -> Iterator[SpecError]:
    """The warnings for rules of a family that match nothing: neither what it prints, nor a hole of its templates, those
    of PyTorch's files and the set's own."""
    at, rules = ("family", family), rules_of(db, family)
    for place in idle(db, family) if not is_selective(db) else ():  # else a rule may be about others
        text = rules.replace[place].from_
        problem = f"nothing that {family} prints has the text"
        hint = "compare it with what is printed (show emit): this release may print something else"
        yield error_at((*at, "replace", str(place), "from"), problem, hint, text, rule="unmatched-text")
    own, there = own_templates(db, family), {*rules.slots}
    names = (*(file.made_of for file in FAMILIES[family].files([], Layout(), release(db))), *rules.file)
    with suppress(SpecError):  # the stage `shard` reports it
        there = {hole for name in names for hole in holes_of(db, own.get(name, name))}
    for hole in rules.slots:
        problem, hint = f"no template of {family} has the hole '{{}}'", f"holes: {', '.join(sorted(there))}"
        yield from unknown((*at, "slots", hole), problem, hole, sorted(there), hint, rule="unmatched-hole")
