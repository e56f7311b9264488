"""Checks of a description beyond its form. What it reads or prints must exist, and its own words must be known. A
function, tag or key that it only selects or changes may be missing: that is a warning, as in `unmatched`.
"""

from collections.abc import Iterator, Sequence

from gradmill.families.overrides import REST, WORDS, FunctionFacts
from gradmill.families.table import FAMILIES
from gradmill.model.layers import Words, listed
from gradmill.model.regex import regex
from gradmill.model.schema import Argument
from gradmill.problems.names import closest
from gradmill.problems.problem import LAST, Problem, nearest
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.rules.layers.facts import wrong_facts
from gradmill.rules.native.heads import qualified
from gradmill.specs.layers.description import TAKE, Description, Family, OutputFile, Slot
from gradmill.stages.added import added
from gradmill.specs.layers.reading import Diagnostic, Path
from gradmill.stages.layered.marks import marks
from gradmill.stages.layered.participation import base_names
from gradmill.stages.layered.selectors import KINDS, is_special, known_names
from gradmill.stages.layered.templates import templates_of
from gradmill.stages.layered.unmatched import unmatched
from gradmill.stages.requested import lacking
from gradmill.stages.schemas import all_heads, function
from gradmill.stages.set import asked_families, described, place_of_key, release


@query
def checked(db: Database) -> bool:
    """Whether a set has a description. Reports the errors of the description."""
    layers = described(db)
    if layers is None:
        return False
    if layers.description.marks:
        db.digest(marks)  # which reports errors, also of lists that no selection reads
    problems = list(_problems(db, layers.description))
    if all(each.suspected for each in problems):  # an erroneous rule may also match nothing
        reported = {each.path for each in problems}
        problems += [each for each in unmatched(db, layers) if each.path not in reported]
    for each in problems:
        rank, rule = LAST if each.follows else 0, each.suspected
        message = (each.problem, each.hint, place_of_key(db, each.path), each.needle)
        db.report(Problem("set", "", "", *message, warning=bool(rule), rank=rank, rule=rule))
    return True


def _problems(db: Database, description: Description) -> Iterator[Diagnostic]:
    for path, error in wrong_facts(description):
        yield Diagnostic(path, error.problem, error.hint, error.needle or path[-1])
    yield from _check_views(db, description)
    yield from _check_base(db, description)
    names = _Names(db)
    for word in listed(description.functions.take):
        yield from names.check_word(("functions", "take"), word, TAKE)
    for name in listed(description.functions.exclude):
        yield from names.check(("functions", "exclude"), name)
    yield from check_text(("comment",), description.comment, ("template",))
    for name in description.families:
        yield from list(_check_family(("families",), name)) or _check_generated(db, ("families",), name)
    for name, rules in description.family.items():
        at = ("family", name)
        unknown = list(_check_family(at, name))
        if not unknown and not description.families:
            yield from _check_generated(db, at, name)
        yield from unknown or _check_rules(db, at, name, rules, names)


def _check_views(db: Database, description: Description) -> Iterator[Diagnostic]:
    """Reports views of arguments that their functions lack. A view of a missing function may be another release's."""
    for place, facts in enumerate(description.facts):
        views = facts.add.get("views", {})
        if not isinstance(views, dict):
            continue
        for base, argument in views.items():
            arguments = {
                each.name for name, head in all_heads(db) if head.base == base for each in _arguments(db, name)
            }
            if arguments and argument not in arguments:
                path = ("facts", str(place), "add", "views", base)
                hint = nearest(argument, sorted(arguments)) or f"arguments: {', '.join(sorted(arguments))}"
                yield Diagnostic(path, f"'{base}' has no argument '{argument}'", hint, argument, follows=True)


def _arguments(db: Database, name: str) -> tuple[Argument, ...]:
    native = function(db, name)
    return () if native is None else native.func.inputs


def _check_base(db: Database, description: Description) -> Iterator[Diagnostic]:
    known = base_names(db)  # none if the file is no YAML
    for place, rewrite in enumerate(description.base.rewrite if known else ()):
        if rewrite.func not in known:
            problem = f"the base has no function '{rewrite.func}'"
            hint = nearest(rewrite.func, known) or "name an operator with its overload, as in add.Tensor"
            path = ("base", "rewrite", str(place), "func")
            yield Diagnostic(path, problem, hint, rewrite.func, suspected="unmatched-entry")


def _check_family(path: Path, name: str) -> Iterator[Diagnostic]:
    if name not in FAMILIES:
        problem, of = f"there is no family '{name}'", [each.name for each in FAMILIES.values() if name in each.subsets]
        hint = nearest(name, FAMILIES) or f"families: {', '.join(FAMILIES)}"
        if of or name == "all":
            problem = f"'{name}' is for families={name} on the command line: a description names families"
            hint = f"write some of {', '.join(of or FAMILIES)}"
        yield Diagnostic(path, problem, hint, name)


def _check_generated(db: Database, path: Path, name: str) -> Iterator[Diagnostic]:
    """Reports a family of the description that yields no file, unless the command line names others."""
    if asked_families(db):
        return
    if (source := FAMILIES[name].source) and not added(db, source):
        hint = f"leave {name} out, or also write {source}=PATH"
        yield Diagnostic(path, f"there are no {source}", hint, name)
    elif missing := lacking(db, name):
        problem = f"'{name}' is made from {missing}, which the spec set does not have"
        yield Diagnostic(path, problem, f"leave {name} out, add it, or name a base that has it", name)


_MOST = 20  # names in a hint


def _unmatched(path: Path, problem: str, hint: str, needle: str) -> Diagnostic:
    return Diagnostic(path, problem, hint, needle, follows=True, suspected="unmatched-functions")


class _Names:
    """All functions, by the names that descriptions may use."""

    def __init__(self, db: Database) -> None:
        self._db = db
        heads = [head for _, head in all_heads(db)]
        self._known = {name for head in heads for name in (head.name, qualified(head))}

    def check(self, path: Path, name: str) -> Iterator[Diagnostic]:
        if name not in self._known:
            hint = nearest(name, sorted(self._known)) or "name an operator with its overload, as in add.Tensor"
            yield _unmatched(path, f"there is no function '{name}'", hint, name)

    def _check_special(self, path: Path, word: str) -> Iterator[Diagnostic]:
        kind, _, name = word.partition(":")
        known = known_names(self._db, kind)
        if name.partition("=")[0] not in known:
            near = closest(name, tuple(known))
            hint = f"did you mean '{kind}:{near}'?" if near else f"{kind}s: {', '.join(known[:_MOST])}"
            own = kind == "layer"  # the description's own word
            yield (Diagnostic if own else _unmatched)(path, f"there is no {kind} '{name}'", hint, word)

    def check_selection(self, path: Path, of: Words, *, rest: bool = False) -> Iterator[Diagnostic]:
        if isinstance(of, tuple):
            for name in of:
                yield from self.check(path, name)
            return
        for word in of.split():
            yield from self.check_word(path, word, [each for each in WORDS if rest or each != REST])

    def check_word(self, path: Path, word: str, words: Sequence[str]) -> Iterator[Diagnostic]:
        if is_special(word):
            yield from self._check_special(path, word)
        elif word not in words:
            known = ", ".join((*words, *(f"{kind}:NAME" for kind in KINDS)))
            hint = nearest(word, words) or f"words: {known}; or write a list of names, or a hook"
            yield Diagnostic(path, f"no function is '{word}'", hint, word)


def _check_rules(db: Database, at: Path, name: str, rules: Family, names: _Names) -> Iterator[Diagnostic]:
    yield from names.check_selection((*at, "functions"), rules.functions)
    for place, rule in enumerate(rules.replace):
        yield from names.check_selection((*at, "replace", str(place), "of"), rule.of)
    keys = sorted(key for key in release(db).dispatch_keys if key.startswith("Autograd"))
    for key, other in rules.keys.items():
        for each, known in ((key, ["Default", *keys]), (other, keys)):
            if each not in known:
                hint = nearest(each, known) or "write a key such as AutogradPrivateUse1"
                yield Diagnostic((*at, "keys", key), f"'{each}' is not a dispatch key of autograd", hint, each)
    yield from _check_slots((*at, "slots"), name, rules.slots, names, OutputFile())
    known = list(dict.fromkeys([*templates_of(db, name), *rules.file]))
    for file in [file for file in rules.files if file not in known]:
        hint = nearest(file, known) or f"{name} has {', '.join(known)}"
        yield Diagnostic((*at, "files"), f"no file of {name} is made of '{file}'", hint, file)
    yield from _check_texts(at, rules)
    for file, own in rules.file.items():
        yield from _check_slots((*at, "file", file, "slots"), name, own.slots, names, own)


_HOLE = regex(r"\$\{(\w*)\}")
_NAMES = tuple(FunctionFacts("", "", "", ()).names)


def _check_texts(at: Path, rules: Family) -> Iterator[Diagnostic]:
    """Reports unknown names in text."""
    texts: list[tuple[Path, str, tuple[str, ...]]] = [((*at, "comment"), rules.comment, ("template",))]
    for place, edit in enumerate(rules.replace):
        path = (*at, "replace", str(place))
        texts += [((*path, "from"), edit.from_, _NAMES), ((*path, "to"), edit.to, _NAMES)]
    for name, own in rules.file.items():
        path = (*at, "file", name)
        texts.append(((*path, "comment"), own.comment, ("template",)))
        for hole, slot in own.slots.items():
            if isinstance(slot, Slot):
                texts += [((*path, "slots", hole), slot.before + slot.after, _NAMES)]
    for path, text, names in texts:
        yield from check_text(path, text, names)


def check_text(path: Path, text: str, names: tuple[str, ...]) -> Iterator[Diagnostic]:
    """The errors for names `${…}` in a text that are not among `names`."""
    for name in dict.fromkeys(_HOLE.findall(text)):
        if name not in names:
            hint = nearest(name, names) or "names: " + ", ".join(f"${{{each}}}" for each in names)
            yield Diagnostic(path, f"'${{{name}}}' is unknown here", hint, f"${{{name}}}")


def _check_slots(
    at: Path, family: str, slots: dict[str, str | Slot], names: _Names, own: OutputFile
) -> Iterator[Diagnostic]:
    for hole, setting in slots.items():
        slot, path = (Slot(setting) if isinstance(setting, str) else setting), (*at, hole)
        if bool(slot.piece) == (slot.text is not None) and setting != "":
            yield Diagnostic(path, "a slot has a piece or a text", 'write piece = "…" or text = "…"', hole)
        known = FAMILIES[family].pieces
        if slot.piece and slot.piece.partition(" ")[0] not in known:
            hint = nearest(slot.piece, known) or f"pieces: {', '.join(known)}"
            yield Diagnostic(path, f"'{family}' has no piece '{slot.piece}'", hint, slot.piece)
        yield from names.check_selection(path, slot.of, rest=True)
        if not own.raw and (slot.before or slot.after or slot.between != "\n"):
            hint = "write raw = true for the file; of other files, a hook puts text around pieces"
            yield Diagnostic(path, "before, after and between are for raw files", hint, hole)
