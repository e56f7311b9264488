"""What a description does to the text of a unit: text replaced, put around pieces, and pieces chosen for slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from pipeline.cpp.view_funcs import view_func, view_func_macro
from pipeline.families.family import ATEN, library_piece
from pipeline.families.family import Family as Kind
from pipeline.families.sharded import DECLARATION, DEFINITION, REGISTRATION
from pipeline.model.layers import Words, listed
from pipeline.specs.layers.description import Family, Replace, Slot, Wrap

WORDS = (
    *("all", "rest", "own", "base", "defined", "undefined", "generated", "declared"),
    *("functional", "inplace", "out", "mutable", "scratch", "foreach", "factory", "symint"),
)
REST = "rest"  # the units that no other slot of the same piece takes


class About(Struct, frozen=True, gc=False, array_like=True):
    """What a function is called and what holds of it, as far as a description may ask."""

    operator: str  # `add_.Tensor`
    base: str  # `add`
    namespace: str
    words: tuple[str, ...]
    kernel: str = ""  # what its kernels are called where another namespace has a function of the same name

    def holds(self, of: Words) -> bool:
        """Whether a selection has the function: all its words hold, or it is in the list.

        A word with `::` at its end is a namespace.
        """
        if isinstance(of, tuple):
            return self.operator in of or f"{self.namespace}::{self.operator}" in of
        return all(word in self.words or word == f"{self.namespace}::" or word == "all" for word in of.split())

    @property
    def names(self) -> dict[str, str]:
        """What `${…}` stands for in the text of rules."""
        name, _, overload = self.operator.partition(".")
        return {
            "operator": self.operator,
            "name": f"{name}_{overload}" if overload else name,
            "function": name,
            "overload": overload,
            "base": self.base,
            "namespace": self.namespace,
        }


def key_of(file: str, hole: str) -> str:
    """What the piece for a slot goes by."""
    return f"{file}/{hole}"


def slots_of(rules: Family) -> Iterator[tuple[str, str, Slot]]:
    """The slots of a family that take a piece: the file that they are in ("" for all), the hole, what goes in."""
    for file, slots in (("", rules.slots), *((name, each.slots) for name, each in rules.file.items())):
        for hole, given in slots.items():
            slot = Slot(given) if isinstance(given, str) else given
            if slot.text is None and slot.piece:
                yield file, hole, slot


def dressed(
    kind: Kind, pieces: Mapping[str, str], rules: Family, about: About, *, apart: bool = False
) -> dict[str, str]:
    """The pieces of a unit as the description has them, with those for its slots. `apart`: whether registrations of
    functions of another namespace than PyTorch's stand in a block of their own."""
    found = _named_apart(kind, pieces, about)
    for _, rule in touching(rules):
        found |= dict(_touched(found, rule, about))
    return found | dict(_slots(found, rules, about)) | (_elsewhere(found, about) if apart else {})


def touched(kind: Kind, pieces: Mapping[str, str], rules: Family, about: About) -> list[str]:
    """Which replacements and wraps touch a piece of a unit: `replace 0`."""
    found, names = _named_apart(kind, pieces, about), []
    for name, rule in touching(rules):
        changed = dict(_touched(found, rule, about))
        names += [name] if changed else []
        found |= changed
    return names


def touching(rules: Family) -> Iterator[tuple[str, Replace | Wrap]]:
    """The replacements and wraps of a family, in the order in which they are applied."""
    yield from ((f"replace {place}", rule) for place, rule in enumerate(rules.replace))
    yield from ((f"wrap {place}", rule) for place, rule in enumerate(rules.wrap))


def _named_apart(kind: Kind, pieces: Mapping[str, str], about: About) -> dict[str, str]:
    if about.namespace != ATEN and kind.unit != "Node":  # a Node has formulas, and none of these names
        return {piece: _in_namespace(text, about) for piece, text in pieces.items()}
    return dict(pieces)


def _in_namespace(text: str, about: About) -> str:
    """The text of a kernel or of a view's class, of a function of another namespace: upstream has none."""
    text = text.replace('full_name("aten::', f'full_name("{about.namespace}::')
    if about.kernel:
        own = f"{about.namespace}_{about.kernel}"
        text = text.replace(f" {about.kernel}(c10::DispatchKeySet ks", f" {own}(c10::DispatchKeySet ks")
        text = text.replace(f"::{about.kernel})", f"::{own})")
        for called in (view_func, view_func_macro):
            text = text.replace(called(about.operator), called(f"{about.namespace}_{about.operator}"))
    return text


def _touched(pieces: Mapping[str, str], rule: Replace | Wrap, about: About) -> Iterator[tuple[str, str]]:
    """The pieces that a rule is for and has something to do with, as it has them."""
    if not about.holds(rule.of):
        return
    wanted = listed(rule.pieces)
    for piece, text in pieces.items():
        if wanted and piece not in wanted and piece.partition(" ")[0] not in wanted:
            continue
        if isinstance(rule, Replace):
            old = _named(rule.from_, about)  # may be empty: not every operator has an overload
            if old and old in text:
                yield piece, text.replace(old, _named(rule.to, about))
        elif text:
            yield piece, _named(rule.text, about).replace("${text}", text)


def _named(text: str, about: About) -> str:
    if "${" in text:
        for name, value in about.names.items():
            text = text.replace(f"${{{name}}}", value)
    return text


def _slots(pieces: Mapping[str, str], rules: Family, about: About) -> Iterator[tuple[str, str]]:
    slots = list(slots_of(rules))
    taken = {(file, slot.piece) for file, _, slot in slots if not _is_rest(slot) and about.holds(slot.of)}
    for file, hole, slot in slots:
        if _is_rest(slot):
            words = " ".join(word for word in str(slot.of).split() if word != REST)
            fits = about.holds(words) and (file, slot.piece) not in taken
        else:
            fits = about.holds(slot.of)
        if fits:
            text = piece_of(pieces, slot.piece)
            if text:
                yield key_of(file, hole), f"{_named(slot.before, about)}{text}{_named(slot.after, about)}"


def _is_rest(slot: Slot) -> bool:
    return isinstance(slot.of, str) and REST in slot.of.split()


def piece_of(pieces: Mapping[str, str], name: str) -> str:
    """A piece by its name; of pieces by dispatch key all of them; the declaration of a kernel is its head."""
    if name in pieces:
        return pieces[name]
    if name == DECLARATION:
        heads = [text.partition(" {\n")[0] for piece, text in pieces.items() if piece.startswith(DEFINITION)]
        return "".join(f"{head};\n" for head in heads if head)
    return "".join(text for piece, text in pieces.items() if piece.startswith(f"{name} "))


def _elsewhere(pieces: Mapping[str, str], about: About) -> dict[str, str]:
    """Registrations of a function of a namespace of its own, which belong into another library than PyTorch's."""
    if about.namespace == ATEN:
        return {}
    moved = [piece for piece in pieces if piece.startswith(REGISTRATION)]
    return {library_piece(piece, about.namespace): pieces[piece] for piece in moved} | dict.fromkeys(moved, "")
